import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../test/support/clean-up.js';
import type { LatencySummary } from '../load/latencies.js';
import type { GeneratorLine, LoadOptions } from '../load/run.js';
import { median } from '../support/machine.js';

const GENERATOR = fileURLToPath(new URL('./generator.js', import.meta.url));
/** Length of the load at the end whose p99 counts as that of a warm server. */
export const WARM_SECONDS = 5;
/** Length of the load at the beginning whose longest answer is shown. */
const FIRST_SECONDS = 10;

/** Latencies of a server from its first request on. */
export interface FirstSeconds {
  readonly firstP99Ms: number;
  readonly firstP50Ms: number;
  /** Median of the p99 of the last seconds. */
  readonly warmP99Ms: number;
  /** The longest answer of the first ten seconds. */
  readonly longestMs: number;
  /** The longest answer of the last seconds. */
  readonly warmLongestMs: number;
}

/** A load generator in its own process, which is warm and waits for a server. */
export class WarmGenerator {
  private readonly lines: AsyncIterator<string>;

  private constructor(private readonly child: ChildProcess) {
    this.lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  /** `options` are the options of the load on the echo server. */
  static async start(options: LoadOptions): Promise<WarmGenerator> {
    const child = spawn(process.execPath, [GENERATOR], { stdio: ['pipe', 'pipe', 'inherit'] });
    atEnd(() => void child.kill('SIGKILL'));
    for (const one of [child, child.stdin]) one.on('error', () => {});
    const generator = new WarmGenerator(child);
    generator.send(options);
    while ((await generator.next()).type !== 'warm');
    return generator;
  }

  /** Loads the server at once. Throws if an answer or a balance was wrong. */
  async play(options: LoadOptions): Promise<FirstSeconds> {
    this.send({ ...options, pieceSeconds: 1 });
    const seconds: LatencySummary[] = [];
    for (;;) {
      const line = await this.next();
      if (line.type === 'piece') seconds.push(line.latencies);
      if (line.type !== 'result') continue;
      const { wrong, firstWrong } = line.result;
      if (wrong > 0) throw new Error(`${wrong} wrong, the first: ${firstWrong}`);
      return firstSecondsOf(seconds);
    }
  }

  private send(options: LoadOptions): void {
    this.child.stdin?.write(`${JSON.stringify(options)}\n`);
  }

  private async next(): Promise<GeneratorLine> {
    const { value, done } = await this.lines.next();
    if (done) throw new Error('the load generator has ended early');
    return JSON.parse(value) as GeneratorLine;
  }
}

/** `seconds` are the latencies of each second, in order. */
export function firstSecondsOf(seconds: readonly LatencySummary[]): FirstSeconds {
  const [first] = seconds;
  const warm = seconds.slice(-WARM_SECONDS);
  if (first === undefined) throw new Error('the load was shorter than a second');
  return {
    firstP50Ms: first.p50Ms,
    firstP99Ms: first.p99Ms,
    warmP99Ms: median(warm.map(({ p99Ms }) => p99Ms)),
    longestMs: Math.max(...seconds.slice(0, FIRST_SECONDS).map(({ maxMs }) => maxMs)),
    warmLongestMs: Math.max(...warm.map(({ maxMs }) => maxMs)),
  };
}
