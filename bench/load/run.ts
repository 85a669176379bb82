import type { KeyObject } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from '../../src/base/queue.js';
import type { Answer } from './answer.js';
import type { Books } from './books.js';
import { Connection, type ConnectionListener } from './connection.js';
import { Dealer, type Play } from './dealer.js';
import { Latencies, type LatencySummary } from './latencies.js';
import { type Mix, storiesOf } from './stories.js';
import { tickEvery } from './ticker.js';

/*
 * The load generator, which runs in its own process. It uses keep-alive connections with one request at a time on each, and
 * handles HTTP by hand on plain sockets, because common clients need more CPU for a request than the server does. Every
 * answer must echo its request's ID, succeed, and move the balance by the right amount. At the end, every player must have
 * the balance that the answers add up to.
 *
 * In a closed loop, a request is due when its connection has received the previous answer. In an open loop, it is due
 * by the clock, regardless of the server, and its latency is measured from that time. While a server stalls, requests
 * become due and wait, and the histogram includes all of that waiting. At 2,000 requests per second, half of them are
 * sent within a few microseconds of their due time. At 5,000 and more, the clock ticks five times per millisecond, so
 * up to 0.2 ms of the latency is the generator's own, equally for every server.
 *
 * Overload is an open loop in which the server may be busy: refusals are counted separately, and requests that become due
 * while no connection is free are not sent. A refused bet is dropped, since its game never began. Any other refused
 * callback is retried until it is answered.
 *
 * If servers come and go behind a load balancer, a connection that ends is reopened and its request is sent again.
 * Latency is then measured from the time at which the request was first due.
 */
export interface LoadOptions {
  readonly url: string;
  /**
   * The operator API for comparing balances at the end. Undefined for a server that keeps no balances or cannot list
   * them.
   */
  readonly booksUrl: string | undefined;
  readonly booksToken: string | undefined;
  readonly mix: Mix;
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second over all connections, in an open loop; undefined for a closed loop. */
  readonly rate: number | undefined;
  readonly isOverload: boolean;
  /** True if connections are reopened when they end, because servers come and go. */
  readonly reopens: boolean;
  /** True if balances are fetched one by one, because these players are few among many others. */
  readonly areFew: boolean;
  readonly players: number;
  /** Open bets that each player holds throughout the measured period. */
  readonly openBets: number;
  /**
   * Length of the parts of the measured period that are reported separately. If undefined, only the whole period is
   * reported.
   */
  readonly pieceSeconds: number | undefined;
  /** The part of this run's player names and IDs that makes them different from those of every other run. */
  readonly seed: string;
  /** Undefined for a server that keeps no balances. */
  readonly openingBalance: number | undefined;
  readonly signingSecret: string | undefined;
}

/** Result of a load. Latencies are those of requests that succeeded or were still waiting at the end. */
export interface LoadResult extends LatencySummary {
  /** Number of requests that succeeded. */
  readonly answers: number;
  readonly perSecond: number;
  readonly refusals: LatencySummary;
  /** Requests that became due while no connection was free. */
  readonly notSent: number;
  /** Requests that were sent again because their connection broke. */
  readonly broken: number;
  /** Players whose balance depends on a request with an unknown outcome. */
  readonly uncertainPlayers: number;
  readonly wrong: number;
  readonly firstWrong: string | undefined;
  /** Share of one core that the generator used. Close to 1, the generator was the bottleneck. */
  readonly generatorCpuShare: number;
}

/** Generator output: one JSON object per line. The last line is the result. */
export type GeneratorLine =
  | { readonly type: 'placed'; readonly players: number }
  /** A generator that warms itself up on another server is ready for the server under test. */
  | { readonly type: 'warm' }
  | { readonly type: 'measuring'; readonly atMs: number }
  | { readonly type: 'piece'; readonly latencies: LatencySummary }
  | { readonly type: 'measured'; readonly atMs: number }
  | { readonly type: 'result'; readonly result: LoadResult };

const TICK_MIN_MS = 0.2;
/** Unmeasured warm-up, in which V8 compiles the generator and the server. */
const WARM_UP_MS = 1000;
/** Maximum wait for the last answers; longer than a server may take for an answer. */
const LAST_ANSWERS_MS = 5000;
const POLL_MS = 10;

/** One load, from the first request to the comparison of the books. */
export class Run implements ConnectionListener {
  private readonly dealer: Dealer;
  private readonly connections: readonly Connection[];
  private readonly free = new Queue<Connection>();
  private successes = new Latencies();
  /** Latencies of the current part. */
  private piece = new Latencies();
  private refusals = new Latencies();
  private startedAt = 0;
  private measuredFrom = 0;
  private answers = 0;
  /** Number of an open loop's requests that have become due so far, whether they were sent or not. */
  private due = 0;
  private notSent = 0;
  private broke = 0;
  private wrong = 0;
  private firstWrong: string | undefined;
  private isStopping = false;
  /** Maximum time by which the open loop's ticker may be early. */
  private leadMs = 0;
  private isAwaitingDue = false;

  constructor(
    private readonly options: LoadOptions,
    key: KeyObject | undefined,
    private readonly books: Books,
  ) {
    const { url, mix, seed, players } = options;
    this.dealer = new Dealer(mix, storiesOf(mix, seed, key), players);
    this.connections = Array.from({ length: options.connections }, () => new Connection(url, this, options.reopens));
  }

  /** `warmUpMs` is the time before the measured period. */
  async run(warmUpMs = WARM_UP_MS): Promise<LoadResult> {
    const { seconds, rate } = this.options;
    await Promise.all(this.connections.map(({ isOpen }) => isOpen)).catch(cannotConnect(this.connections.length));
    const ticks =
      rate === undefined ? undefined : await tickEvery(Math.max(1000 / rate, TICK_MIN_MS), () => this.sendDue());
    for (const connection of this.connections) this.free.push(connection);
    this.startedAt = performance.now();
    this.leadMs = ticks?.leadMs ?? 0;
    this.sendDue();
    await delay(warmUpMs);
    const cpu = this.beginMeasuring();
    send({ type: 'measuring', atMs: Date.now() });
    const pieces = this.reportPieces();
    await delay(seconds * 1000);
    clearInterval(pieces);
    this.isStopping = true;
    send({ type: 'measured', atMs: Date.now() });
    ticks?.end();
    const result = this.result(process.cpuUsage(cpu));
    await this.lastAnswers();
    await this.closeBooks();
    const { wrong, firstWrong, books, broke: broken } = this;
    return { ...result, broken, wrong, firstWrong, uncertainPlayers: books.uncertain };
  }

  private reportPieces(): NodeJS.Timeout | undefined {
    const { pieceSeconds } = this.options;
    if (pieceSeconds === undefined) return undefined;
    this.piece = new Latencies();
    return setInterval(() => {
      send({ type: 'piece', latencies: this.piece.summary() });
      this.piece = new Latencies();
    }, pieceSeconds * 1000);
  }

  /** Begins the measured period. Returns the processor time used so far. */
  private beginMeasuring(): NodeJS.CpuUsage {
    this.measuredFrom = performance.now();
    this.successes = new Latencies();
    this.refusals = new Latencies();
    this.answers = 0;
    this.notSent = 0;
    return process.cpuUsage();
  }

  answered(connection: Connection, play: Play, answer: Answer, isEchoed: boolean): void {
    const latencyMs = performance.now() - connection.dueAt;
    this.free.push(connection);
    if (this.options.isOverload && answer.isBusy) this.refused(play, latencyMs);
    else this.succeeded(play, latencyMs, isEchoed && this.isRight(play, answer), answer);
    this.sendDue();
  }

  lost(why: string): void {
    if (!this.isStopping) this.failed(why);
  }

  broken(): void {
    this.broke++;
  }

  private sendDue(): void {
    const now = performance.now();
    while (!this.isStopping) {
      const dueAt = this.nextDueAt(now);
      if (dueAt > now) {
        if (dueAt <= now + this.leadMs) this.awaitDue();
        return;
      }
      const connection = this.free.shift();
      if (connection !== undefined) connection.send(this.dealer.next(), dueAt);
      else if (this.options.isOverload) this.notSent++;
      else return;
      this.due++;
    }
  }

  /** Checks the clock again in the next event-loop iteration, because no sleep is short enough. */
  private awaitDue(): void {
    if (this.isAwaitingDue) return;
    this.isAwaitingDue = true;
    setImmediate(() => {
      this.isAwaitingDue = false;
      this.sendDue();
    });
  }

  private nextDueAt(now: number): number {
    const { rate } = this.options;
    return rate === undefined ? now : this.startedAt + (this.due * 1000) / rate;
  }

  private succeeded(play: Play, latencyMs: number, isRight: boolean, answer: Answer): void {
    this.answers++;
    if (!this.isStopping) this.successes.record(latencyMs);
    if (this.options.pieceSeconds !== undefined) this.piece.record(latencyMs);
    if (!isRight) this.failed(answer.text);
    if (play.advance()) this.dealer.putBack(play);
  }

  private refused(play: Play, latencyMs: number): void {
    if (!this.isStopping) this.refusals.record(latencyMs);
    play.isDoubtful = true;
    if (play.isNew) this.books.enterDoubtful(play);
    else this.dealer.putBack(play);
  }

  private isRight(play: Play, answer: Answer): boolean {
    if (!answer.isSuccess) return false;
    return this.options.openingBalance === undefined || this.books.enter(play, answer.before, answer.after);
  }

  private result({ user, system }: NodeJS.CpuUsage) {
    const now = performance.now();
    const tookMs = now - this.measuredFrom;
    const { answers, notSent } = this;
    this.recordWaiting(now);
    return {
      answers,
      notSent,
      perSecond: (answers / tookMs) * 1000,
      generatorCpuShare: (user + system) / 1000 / tookMs,
      refusals: this.refusals.summary(),
      ...this.successes.summary(),
    };
  }

  /** Records the waiting time so far of each request that is due and unanswered. Its latency is at least that long. */
  private recordWaiting(now: number): void {
    for (const { play, dueAt } of this.connections) if (play !== undefined) this.successes.record(now - dueAt);
    if (this.options.rate === undefined || this.options.isOverload) return;
    for (let dueAt = this.nextDueAt(now); dueAt < now; dueAt = this.nextDueAt(now)) {
      this.successes.record(now - dueAt);
      this.due++;
    }
  }

  private async lastAnswers(): Promise<void> {
    const deadline = performance.now() + LAST_ANSWERS_MS;
    while (this.free.length < this.connections.length && performance.now() < deadline) await delay(POLL_MS);
    for (const { play, dueAt } of this.connections) {
      if (play !== undefined) this.failed(`no answer for ${Math.round(performance.now() - dueAt)} ms`);
    }
  }

  private async closeBooks(): Promise<void> {
    const { booksUrl, booksToken = null, seed, areFew } = this.options;
    for (const { play } of this.connections) if (play !== undefined) this.books.enterDoubtful(play);
    for (const play of this.dealer.unfinished()) if (play.isDoubtful) this.books.enterDoubtful(play);
    if (booksUrl === undefined) return;
    for (const sentence of await this.books.compare(booksUrl, booksToken, seed, areFew)) this.failed(sentence);
  }

  private failed(what: string): void {
    this.wrong++;
    this.firstWrong ??= what;
  }
}

function cannotConnect(count: number): (error: NodeJS.ErrnoException) => never {
  return ({ code, message }) => {
    console.error(`cannot open ${count} connections: ${message}${code === 'EMFILE' ? '; raise `ulimit -n`' : ''}`);
    process.exit(1);
  };
}

/** Writes a line for the bench. */
export function send(line: GeneratorLine, then?: () => void): void {
  process.stdout.write(`${JSON.stringify(line)}\n`, then);
}
