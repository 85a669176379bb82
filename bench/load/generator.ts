import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { build } from 'hdr-histogram-js';

/*
 * The load generator, in a process of its own: keep-alive connections, one request at a time on each, unique placeBets
 * and settleBets in pairs. It writes HTTP by hand on plain sockets, because the clients at hand need more CPU for a
 * request than the server does. Every connection plays for players of its own, so it knows every balance that must come
 * back, and a wrong one fails the run.
 */
export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
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
  readonly wrong: number;
  readonly firstWrong: string | undefined;
  /** Of one core. Near 1 the generator is the bottleneck. */
  readonly generatorCpuShare: number;
}

const STAKE = 10.5;
const PAYOUT = 12;
const UNITS = 10_000;
const OK = '"statusCode":0,';

const options = JSON.parse(readFileSync(0, 'utf8')) as LoadOptions;
const latencies = build({
  lowestDiscernibleValue: 1,
  highestTrackableValue: 60_000_000,
  numberOfSignificantValueDigits: 3,
});
let answers = 0;
let wrong = 0;
let firstWrong: string | undefined;
let isStopping = false;

class Connection {
  private readonly balances: number[];
  private readonly socket: Socket;
  private round = 0;
  private isSettling = false;
  private player = 0;
  private id = '';
  private sentAt = 0;

  constructor(
    private readonly name: number,
    private readonly usernames: readonly string[],
  ) {
    const { hostname, port } = new URL(options.url);
    this.balances = usernames.map(() => Math.round((options.openingBalance ?? 0) * UNITS));
    this.socket = connect(Number(port), hostname);
    this.socket.setNoDelay(true);
    this.socket.on('connect', () => this.send());
    this.socket.on('data', (data) => this.receive(data.toString('latin1')));
    this.socket.on('error', (error) => fail(error.message));
  }

  private send(): void {
    if (isStopping) {
      this.socket.end();
      return;
    }
    const body = this.isSettling ? this.settle() : this.place();
    const path = this.isSettling ? 'settleBets' : 'placeBets';
    this.sentAt = performance.now();
    this.socket.write(`POST /${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'latin1');
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
    latencies.recordValue((performance.now() - this.sentAt) * 1000);
    answers++;
    if (!text.includes(OK) || (options.openingBalance !== undefined && !this.isBalanceRight(text))) fail(text);
    this.isSettling = !this.isSettling;
    this.send();
  }

  private isBalanceRight(text: string): boolean {
    const before = this.balances[this.player] as number;
    const after = before + (this.isSettling ? PAYOUT : -STAKE) * UNITS;
    this.balances[this.player] = after;
    return text.includes(`"balanceBefore":${before / UNITS},"balanceAfter":${after / UNITS},`);
  }
}

function fail(what: string): void {
  wrong++;
  firstWrong ??= what;
}

const playersEach = Math.floor(options.usernames.length / options.connections);
for (let name = 0; name < options.connections; name++) {
  new Connection(name, options.usernames.slice(name * playersEach, (name + 1) * playersEach));
}
const startedAt = performance.now();
const cpu = process.cpuUsage();
setTimeout(() => {
  isStopping = true;
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const result: LoadResult = {
    answers,
    perSecond: (answers / tookMs) * 1000,
    p50Ms: latencies.getValueAtPercentile(50) / 1000,
    p99Ms: latencies.getValueAtPercentile(99) / 1000,
    wrong,
    firstWrong,
    generatorCpuShare: (user + system) / 1000 / tookMs,
  };
  // The last answers come in; then the process ends.
  setTimeout(() => {
    process.stdout.write(JSON.stringify(result), () => process.exit(0));
  }, 200);
}, options.seconds * 1000);
