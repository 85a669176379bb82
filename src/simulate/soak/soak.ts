import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../base/message-of.js';
import type { OnProgress } from '../../base/progress.js';
import { CannotKnow, Stopped } from '../cannot-know.js';
import type { Step } from '../case.js';
import { ruleOf } from '../explain.js';
import { type Known, NOTHING_KNOWN } from '../known.js';
import { type Deviation, Play, stopReason, type Table } from '../play.js';
import { type Players, PlayersError } from '../players.js';
import type { Result } from '../result.js';
import { Latencies } from './latencies.js';
import { roundsOf } from './rounds.js';

export interface Soaked {
  readonly results: readonly Result[];
  /** The time from the moment when a message is due to its final answer, including retries. */
  readonly latencies: Latencies;
  readonly seconds: number;
  /** Number of messages that were due but not sent, because too many messages were waiting before them. */
  readonly dropped: number;
  /** Number of players whose rounds ended at a known rule. */
  readonly passed: number;
}

/** Maximum number of concurrent players, each with one outstanding message. */
const SEATS_MAX = 512;
/** Maximum number of due messages that wait for a free player. */
const WAITING_MAX = 10_000;
const TICK_MS = 1;

/**
 * Sends at a fixed rate, whether or not answers arrive, and checks each answer. Ends at the first answer that differs
 * and breaks no known rule, or if the operator gives no final answers.
 */
export async function soak(
  table: Table,
  players: Players,
  perSecond: number,
  forSeconds: number,
  onProgress: OnProgress = () => {},
  known: Known = NOTHING_KNOWN,
): Promise<Soaked> {
  const soaking = new Soaking(table, players, known);
  const startMs = performance.now();
  const endMs = startMs + forSeconds * 1000;
  for (let n = 0; !soaking.isOver; ) {
    const nowMs = performance.now();
    if (nowMs > endMs) break;
    const reason = stopReason(table);
    if (reason !== undefined) soaking.fail(new Stopped(reason));
    for (; startMs + (n * 1000) / perSecond <= nowMs; n++) soaking.due(startMs + (n * 1000) / perSecond);
    onProgress(nowMs - startMs, forSeconds * 1000);
    await delay(TICK_MS);
  }
  await soaking.finish();
  return soaking.soaked((performance.now() - startMs) / 1000);
}

/** Slot for one player at a time, with one outstanding message. */
interface Seat {
  play: Play | undefined;
  readonly steps: Step[];
}

class Soaking {
  isOver = false;
  private readonly latencies = new Latencies();
  private readonly idle: Seat[] = [];
  private readonly waiting: number[] = [];
  private readonly busy = new Set<Promise<void>>();
  private seats = 0;
  private histories = 0;
  private dropped = 0;
  private passed = 0;
  private found: Result | undefined;
  private failure: Error | undefined;

  constructor(
    private readonly table: Table,
    private readonly players: Players,
    private readonly known: Known,
  ) {}

  /** Sends the message that is due at this time, or queues it. */
  due(atMs: number): void {
    const seat = this.idle.pop() ?? this.tryNewSeat();
    if (seat !== undefined) this.start(seat, atMs);
    else if (this.waiting.length < WAITING_MAX) this.waiting.push(atMs);
    else this.dropped++;
  }

  /** Ends the run because of an error. */
  fail(error: Error): void {
    this.isOver = true;
    // If there was no player, only the reason can be reported.
    const isExpected = error instanceof CannotKnow || (error instanceof PlayersError && this.histories > 0);
    if (!isExpected) this.failure ??= error;
    else
      this.found ??= {
        rule: 'random',
        name: 'rounds at a rate',
        verdict: 'unknown',
        why: messageOf(error),
        messages: 0,
      };
  }

  /** Waits for outstanding messages and drops waiting ones. Rejects if players could not be created. */
  async finish(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.busy);
    if (this.failure !== undefined) throw this.failure;
  }

  soaked(seconds: number): Soaked {
    const name = `${this.histories} players, one after the other in ${this.seats} seats`;
    const agreed: Result = { rule: 'random', name, verdict: 'agrees', messages: this.latencies.count };
    const { latencies, dropped, passed } = this;
    return { results: [this.found ?? agreed], latencies, seconds, dropped, passed };
  }

  private tryNewSeat(): Seat | undefined {
    if (this.seats >= SEATS_MAX) return undefined;
    this.seats++;
    return { play: undefined, steps: [] };
  }

  private start(seat: Seat, atMs: number): void {
    const work = this.take(seat, atMs)
      .catch((error: Error) => this.fail(error))
      .finally(() => this.busy.delete(work));
    this.busy.add(work);
  }

  private async take(seat: Seat, atMs: number): Promise<void> {
    let dueMs: number | undefined = atMs;
    while (dueMs !== undefined) {
      const step = await this.next(seat);
      const play = seat.play as Play;
      const deviation = (await play.step(step)) ?? play.unreadable;
      this.latencies.add(performance.now() - dueMs);
      if (deviation !== undefined) this.differs(seat, deviation);
      dueMs = this.isOver ? undefined : this.waiting.shift();
    }
    this.idle.push(seat);
  }

  private async next(seat: Seat): Promise<Step> {
    if (seat.steps.length === 0) {
      seat.play = new Play(this.table, await this.players.take());
      seat.steps.push(...roundsOf(this.table.profile, this.histories++));
    }
    const step = seat.steps.shift();
    if (step === undefined) throw new CannotKnow('no round can be played with these endpoints');
    return step;
  }

  private differs(seat: Seat, deviation: Deviation): void {
    const rule = ruleOf(deviation);
    if (this.known.passes(rule)) {
      this.passed++;
      // The next message comes from a new player.
      seat.steps.length = 0;
      return;
    }
    this.isOver = true;
    this.found ??= { rule, name: 'rounds at a rate', verdict: 'differs', deviation, messages: 0 };
  }
}
