import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../base/message-of.js';
import type { OnProgress } from '../base/progress.js';
import type { Case } from './case.js';
import type { Endpoint } from './message.js';
import { type ConnectionLost, type Deviation, type Misshapes, stopReason, type Table } from './play.js';
import { endedOutcome, type Outcome, playCase, unknownOutcome } from './play-case.js';
import { type Players, PlayersError } from './players.js';
import { type Profile, pathOf } from './profile.js';
import type { Result } from './result.js';

/** Number of histories to play concurrently, unless the caller chooses another. */
export const CHECK_CONCURRENCY = 8;
/** If this many histories get no answer at all, the remaining ones are not tried. */
const HOPELESS = 8;
/** Number of times that a case which is played alone loses its connection before its request is blamed. */
const LOST_TIMES = 2;
/** Each further attempt may restart the operator, and supervisors give up after some restarts. */
const LAST_RETRY_MS = 1000;
const ENDS = "this request ends the operator's process";
const BREAKS = "this request ends its connection each time, and probably the operator's process";
const FIRST_REST_MS = 50;
const REST_MAX_MS = 1000;

/**
 * Plays all cases, each with its own player. The results about all answers come first, then those of the cases
 * in order.
 */
export async function check(
  table: Table,
  players: Players,
  cases: readonly Case[],
  onProgress: OnProgress = () => {},
  concurrency = CHECK_CONCURRENCY,
): Promise<Result[]> {
  const checking = new Checking(table, players, cases, onProgress, concurrency);
  await checking.play();
  return checking.results();
}

/**
 * Plays the cases several at a time until a connection is lost. The cases that were under way are then played again one
 * at a time, so that a request that ends the operator's process is the only suspect. If there is such a request, the
 * remaining cases are also played one at a time.
 */
class Checking {
  private readonly outcomes: Outcome[] = [];
  /** Indices of the cases to play, the next one first. */
  private readonly queue: number[];
  /** Cases that were under way when a connection was lost. */
  private disturbed: number[] = [];
  private unknown = 0;
  private known = 0;
  /** Set once no further case can be played. */
  private over: string | undefined;

  constructor(
    private readonly table: Table,
    private readonly players: Players,
    private readonly cases: readonly Case[],
    private readonly onProgress: OnProgress,
    private readonly concurrency: number,
  ) {
    this.queue = cases.map((_, n) => n);
  }

  async play(): Promise<void> {
    while (this.queue.length > 0) {
      await Promise.all(Array.from({ length: this.concurrency }, () => this.playInTurn()));
      const { disturbed } = this;
      this.disturbed = [];
      // Without any answer, the operator may never have been reachable.
      if (this.table.client.answeredCount === 0) continue;
      if (disturbed.length > 0 && !(await this.isBack())) {
        this.printSuspects(disturbed);
        continue;
      }
      let hasEnded = false;
      for (const n of disturbed) hasEnded = (await this.playAlone(n)) || hasEnded;
      while (hasEnded && this.queue.length > 0) await this.playAlone(this.queue.shift() as number);
    }
  }

  results(): Result[] {
    const results = this.outcomes.map(({ result }, n) => ({ ...named(this.cases[n] as Case), ...result }));
    const notServed = new Set(this.outcomes.flatMap((one) => one.notServed ?? []));
    if (this.known === 0 && notServed.size === 0) return results;
    const misshapes = this.outcomes.flatMap((one) => one.misshapes ?? []);
    return [...servedResults(this.table.profile, notServed), ...shapeResults(misshapes), ...results];
  }

  private async playInTurn(): Promise<void> {
    while (this.disturbed.length === 0) {
      const n = this.queue.shift();
      if (n === undefined) return;
      const { client } = this.table;
      const { lostCount } = client;
      const outcome = await this.playCase(n, true);
      this.keep(n, outcome);
      if (client.lostCount !== lostCount) this.disturbed.push(n);
    }
  }

  /** Plays a case while nothing else is played. Resolves to true if it has ended the operator's process. */
  private async playAlone(n: number): Promise<boolean> {
    let lost: ConnectionLost | undefined;
    for (let times = 0; times < LOST_TIMES; times++) {
      const outcome = await this.playCase(n, true);
      ({ lost } = outcome);
      if (lost === undefined) {
        this.keep(n, outcome);
        return false;
      }
      if (!(await this.table.client.isUp())) {
        const isLast = lost.how === 'hung up';
        this.keep(n, endedOutcome(isLast ? ENDS : 'the process had ended before this request', lost));
        await this.isBack();
        return true;
      }
    }
    // A supervisor may have opened the port again, or a proxy keeps it open. An operator that answers the same request
    // when it is sent again has not ended.
    const outcome = await this.playCase(n, false, Math.min(this.table.retryMs, LAST_RETRY_MS));
    const isEnd = outcome.result.verdict !== 'agrees';
    this.keep(n, isEnd ? endedOutcome(BREAKS, lost as ConnectionLost) : outcome);
    return isEnd;
  }

  private async playCase(n: number, stopsWhenLost: boolean, retryMs = this.table.retryMs): Promise<Outcome> {
    const { table, players } = this;
    const isHopeless = this.known === 0 && this.unknown >= HOPELESS;
    const why = stopReason(table) ?? (isHopeless ? 'none of the others got an answer' : this.over);
    if (why !== undefined) return unknownOutcome(`not tried: ${why}`);
    try {
      return await playCase({ ...table, stopsWhenLost, retryMs }, players, this.cases[n] as Case);
    } catch (error) {
      // If there is no result, only the error can be reported.
      if (!(error instanceof PlayersError) || this.known === 0) throw error;
      this.over ??= messageOf(error);
      return unknownOutcome(`not tried: ${this.over}`);
    }
  }

  private keep(n: number, outcome: Outcome): void {
    this.outcomes[n] = outcome;
    const { verdict } = outcome.result;
    // Play a lost history again, unless the operator may never have been reachable.
    const isPlayedAgain = outcome.lost !== undefined && this.table.client.answeredCount > 0;
    if (verdict === 'unknown' && !isPlayedAgain) this.unknown++;
    else if (verdict === 'agrees' || verdict === 'differs') this.known++;
    this.onProgress(this.cases.length - this.queue.length, this.cases.length);
  }

  /** Waits until the operator accepts connections again. Resolves to false if it does not come back. */
  private async isBack(): Promise<boolean> {
    const { client, retryMs } = this.table;
    const endMs = performance.now() + retryMs;
    for (
      let restMs = FIRST_REST_MS;
      stopReason(this.table) === undefined && !(await client.isUp());
      restMs = Math.min(restMs * 2, REST_MAX_MS)
    ) {
      if (performance.now() + restMs > endMs) {
        this.over ??= "the operator's process has ended and did not come back";
        return false;
      }
      await delay(restMs);
    }
    return true;
  }

  /** Blames the requests that were under way when the operator's process ended for good. */
  private printSuspects(disturbed: readonly number[]): void {
    const suspects = disturbed.filter((n) => this.outcomes[n]?.lost?.how === 'hung up');
    const others = suspects.length - 1;
    const why =
      others === 0
        ? "this request has ended the operator's process, which did not come back"
        : `this request or one of ${others} others has ended the operator's process, which did not come back`;
    for (const n of suspects) {
      const { lost } = this.outcomes[n] as Outcome;
      if (lost !== undefined) this.outcomes[n] = endedOutcome(why, lost);
    }
  }
}

function named({ rule, name }: Case): Pick<Case, 'rule' | 'name'> {
  return { rule, name };
}

function servedResults(profile: Profile, notServed: ReadonlySet<string>): Result[] {
  return profile.endpoints.map((endpoint: Endpoint) => {
    const path = pathOf(profile, endpoint);
    const isMissing = notServed.has(path);
    const why = isMissing ? { why: `${path} is not there; name in "endpoints" of a profile what is` } : {};
    const verdict = isMissing ? 'differs' : 'agrees';
    return { rule: 'served', name: `${endpoint} is served`, verdict, messages: 0, ...why };
  });
}

/** One result for each fault in the fields of answers, with its shortest history, however many cases show it. */
function shapeResults(misshapes: readonly Misshapes[]): Result[] {
  const found = new Map<string, { deviation: Deviation; cases: number }>();
  for (const [says, deviation] of misshapes.flatMap((one) => [...one])) {
    const known = found.get(says);
    if (known === undefined) {
      found.set(says, { deviation, cases: 1 });
      continue;
    }
    known.cases++;
    if (deviation.history.length < known.deviation.history.length) known.deviation = deviation;
  }
  if (found.size === 0) {
    return [{ rule: 'shape', name: 'every answer has the fields of section 2.9', verdict: 'agrees', messages: 0 }];
  }
  return [...found].map(([name, { deviation, cases }]) => {
    const why = `seen in ${cases} ${cases === 1 ? 'case' : 'cases'}`;
    return { rule: 'shape', name, verdict: 'differs', why, deviation, cases, messages: 0 };
  });
}
