import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { build } from 'hdr-histogram-js';

/*
 * The load generator, in a process of its own: keep-alive connections, one request at a time on each, unique placeBets
 * and settleBets in pairs. It writes HTTP by hand on plain sockets, because the clients at hand need more CPU for a
 * request than the server does. Every connection plays for players of its own, so it knows every balance that must come
 * back, and a wrong one fails the run.
 *
 * In a closed loop a request is due when the answer before it has come. In an open loop it is due by the clock, whatever
 * the server does, and its latency counts from then: while a server stalls, requests become due and wait, and all of
 * that waiting is in the histogram. The clock ticks in milliseconds, so that up to one of them is the generator's own;
 * it is the same for every server.
 */
export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests per second over all connections, in an open loop. Undefined for a closed one. */
  readonly rate: number | undefined;
  readonly usernames: readonly string[];
  /** Makes the ids of this run different from those of every other. */
  readonly seed: string;
  /** Undefined for a server that keeps no balances. */
  readonly openingBalance: number | undefined;
}

export interface LoadResult {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly wrong: number;
  readonly firstWrong: string | undefined;
  /** Of one core. Near 1 the generator is the bottleneck. */
  readonly generatorCpuShare: number;
}

const STAKE = 10.5;
const PAYOUT = 12;
const UNITS = 10_000;
const OK = '"statusCode":0,';
const TICK_MS = 1;
const LATENCY_MAX_US = 60_000_000;

const options = JSON.parse(readFileSync(0, 'utf8')) as LoadOptions;
const latencies = build({
  lowestDiscernibleValue: 1,
  highestTrackableValue: LATENCY_MAX_US,
  numberOfSignificantValueDigits: 3,
});
let startedAt = 0;
let answers = 0;
let wrong = 0;
let firstWrong: string | undefined;
let isStopping = false;

class Connection {
  readonly isOpen: Promise<unknown>;
  private readonly balances: number[];
  private readonly socket: Socket;
  private round = 0;
  private isSettling = false;
  private player = 0;
  private id = '';
  /** Requests that have been sent. */
  private sent = 0;
  private isWaiting = false;
  private dueAt = 0;

  constructor(
    private readonly name: number,
    private readonly usernames: readonly string[],
  ) {
    const { hostname, port } = new URL(options.url);
    this.balances = usernames.map(() => Math.round((options.openingBalance ?? 0) * UNITS));
    this.socket = connect(Number(port), hostname);
    this.socket.setNoDelay(true);
    this.isOpen = once(this.socket, 'connect');
    this.socket.on('data', (data) => this.receive(data.toString('latin1')));
    this.socket.on('error', (error) => fail(error.message));
    this.socket.on('close', () => isStopping || fail('the server has closed a connection'));
  }

  /** Sends the next request, unless it is not due yet or has to wait for the answer before it. */
  maybeSend(): void {
    if (this.isWaiting || isStopping) return;
    const now = performance.now();
    const dueAt = this.nextDueAt(now);
    if (dueAt > now) return;
    this.isWaiting = true;
    this.dueAt = dueAt;
    this.sent++;
    this.send();
  }

  /** What has been due and has no answer has waited this long at least. */
  recordUnanswered(now: number): void {
    if (this.isWaiting) record(now - this.dueAt);
    for (let dueAt = this.nextDueAt(now); dueAt < now; dueAt = this.nextDueAt(now)) {
      record(now - dueAt);
      this.sent++;
    }
  }

  private nextDueAt(now: number): number {
    if (options.rate === undefined) return now;
    return startedAt + ((this.sent * options.connections + this.name) * 1000) / options.rate;
  }

  private send(): void {
    const body = this.isSettling ? this.settle() : this.place();
    const path = this.isSettling ? 'settleBets' : 'placeBets';
    this.socket.write(
      `POST /${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      'latin1',
    );
  }

  private place(): string {
    this.player = this.round % this.usernames.length;
    this.id = `${options.seed}-${this.name}-${this.round++}`;
    return `{"id":"req-p-${this.id}","timestampMillis":1763600000000,"productId":"PRODUCT-1","currency":"THB","username":"${this.usernames[this.player]}","txns":[{"id":"txn-${this.id}","status":"OPEN","roundId":"round-${this.id}","betAmount":${STAKE},"gameCode":"GAME-1","playInfo":"player"}]}`;
  }

  private settle(): string {
    return `{"id":"req-s-${this.id}","timestampMillis":1763600000000,"productId":"PRODUCT-1","currency":"THB","username":"${this.usernames[this.player]}","txns":[{"id":"txn-${this.id}","status":"SETTLED","roundId":"round-${this.id}","betAmount":${STAKE},"payoutAmount":${PAYOUT},"turnOver":0,"isSingleState":false,"transactionType":"BY_TRANSACTION","isEndRound":true,"gameCode":"GAME-1","playInfo":"player"}]}`;
  }

  /** Answers are small and come in one piece: half an answer would be counted as wrong. */
  private receive(text: string): void {
    record(performance.now() - this.dueAt);
    answers++;
    if (!text.includes(OK) || (options.openingBalance !== undefined && !this.isBalanceRight(text))) fail(text);
    this.isSettling = !this.isSettling;
    this.isWaiting = false;
    if (isStopping) this.socket.end();
    else this.maybeSend();
  }

  private isBalanceRight(text: string): boolean {
    const before = this.balances[this.player] as number;
    const after = before + (this.isSettling ? PAYOUT : -STAKE) * UNITS;
    this.balances[this.player] = after;
    return text.includes(`"balanceBefore":${before / UNITS},"balanceAfter":${after / UNITS},`);
  }
}

function record(ms: number): void {
  latencies.recordValue(Math.min(ms * 1000, LATENCY_MAX_US));
}

function fail(what: string): void {
  wrong++;
  firstWrong ??= what;
}

const playersEach = Math.floor(options.usernames.length / options.connections);
const connections = Array.from(
  { length: options.connections },
  (_, name) => new Connection(name, options.usernames.slice(name * playersEach, (name + 1) * playersEach)),
);
await Promise.all(connections.map((connection) => connection.isOpen));
startedAt = performance.now();
const cpu = process.cpuUsage();
const sendAll = () => {
  for (const connection of connections) connection.maybeSend();
};
if (options.rate === undefined) sendAll();
else setInterval(sendAll, TICK_MS);
setTimeout(() => {
  isStopping = true;
  const now = performance.now();
  const tookMs = now - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  if (options.rate !== undefined) for (const connection of connections) connection.recordUnanswered(now);
  const result: LoadResult = {
    answers,
    perSecond: (answers / tookMs) * 1000,
    p50Ms: latencies.getValueAtPercentile(50) / 1000,
    p99Ms: latencies.getValueAtPercentile(99) / 1000,
    p999Ms: latencies.getValueAtPercentile(99.9) / 1000,
    wrong,
    firstWrong,
    generatorCpuShare: (user + system) / 1000 / tookMs,
  };
  // The last answers come in; then the process ends.
  setTimeout(() => {
    process.stdout.write(JSON.stringify(result), () => process.exit(0));
  }, 200);
}, options.seconds * 1000);
