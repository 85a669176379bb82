import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Column, formatTable } from '../../src/cli/print/table.js';
import { atEnd, withCleanUp } from '../../test/support/clean-up.js';
import { FeedConsumer } from '../../test/support/feed-consumer.js';
import { ROOT } from '../../test/support/root.js';
import { type Generated, generate, type Load, warmUp } from '../load/generate.js';
import { Latencies } from '../load/latencies.js';
import { announce } from '../load/race.js';
import { describeLoad } from '../load/raced.js';
import { median } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { startWalletd } from '../support/servers.js';
import { startStore } from '../support/store.js';
import type { CostSettings } from './cost.js';

const PAGE_EVENTS = 1000;
const WAIT_SECONDS = 1;
const PAIRS_PER_ROUND = 2;
/** Time of load before a measurement in which the consumers start: a consumer in production has run for long. */
const SETTLE_SECONDS = 3;

/** Two runs of one load: without consumers, and with a pull and a push consumer. */
interface Pair {
  readonly without: Generated;
  readonly beside: Generated;
}

/** A consumer of all events from its start on. */
interface Consumer {
  readonly name: string;
  readonly arrivals: Arrivals;
  /** Ends the consumer and deletes its feed. */
  end(): Promise<void>;
}

/**
 * Measures what a pull and a push consumer of all events cost the server, in a closed loop and at `rate` callbacks per
 * second. Runs with and without them alternate on one server, because separate processes would differ by more than the
 * consumers cost.
 */
export function runFeedCost(settings: CostSettings, rate: number): Promise<void> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const server = await startWalletd(store, 0);
    const adminUrl = server.adminUrl as string;
    await warmUp(server, settings);
    const loads: readonly Load[] = [settings, { ...settings, rate }];
    const count = settings.rounds * PAIRS_PER_ROUND;
    const progress = new RunProgress(loads.length * count, 2 * settings.seconds + SETTLE_SECONDS);
    const costs: string[][] = [];
    const lags: string[][] = [];
    try {
      for (const load of loads) {
        const pairs: Pair[] = [];
        const latencies = new Map<string, Latencies>();
        for (let n = 0; n < count; n++) {
          const without = await generate(server, load);
          const consumers = [await startPull(adminUrl), await startPush(adminUrl)];
          await generate(server, { ...load, seconds: SETTLE_SECONDS });
          const beside = await generate(server, load);
          for (const { name, arrivals, end } of consumers) {
            await end();
            const all = latencies.get(name) ?? new Latencies();
            latencies.set(name, all);
            for (const lagMs of arrivals.lagsMs(beside)) all.record(lagMs);
          }
          pairs.push({ without, beside });
          progress.next(costRow(load, [{ without, beside }]).join('  '));
        }
        costs.push(costRow(load, pairs));
        for (const [name, all] of latencies) lags.push(lagRow(load, name, all, pairs));
      }
    } finally {
      progress.stop();
    }
    console.log(`\nwithout and with the consumers: medians of ${count} pairs; the ratios also with their extremes`);
    console.log(formatTable(COST_COLUMNS, costs));
    console.log('\nlag: from the time of an event to its arrival at the consumer, over all pairs');
    console.log(formatTable(LAG_COLUMNS, lags));
  });
}

const COST_COLUMNS: readonly Column[] = [
  '',
  { right: 'callbacks/s' },
  { right: 'with' },
  { right: 'ratio' },
  { right: "us of the server's processor per callback" },
  { right: 'with' },
  { right: 'ratio' },
];

function costRow(load: Load, pairs: readonly Pair[]): string[] {
  const perSecond = figures(pairs, (result) => result.perSecond, 0);
  const cpuUs = figures(pairs, ({ vitals, answers }) => (vitals.cpuMs * 1000) / answers, 1);
  return [describeLoad(load), ...perSecond, ...cpuUs];
}

/** Medians without and with the consumers, and the ratio. */
function figures(pairs: readonly Pair[], pick: (result: Generated) => number, decimals: number): string[] {
  const [without, beside] = [pairs.map((pair) => pick(pair.without)), pairs.map((pair) => pick(pair.beside))];
  const ratios = beside.map((value, n) => value / (without[n] as number)).sort((a, b) => a - b);
  const [least, most] = [ratios[0] as number, ratios.at(-1) as number].map((ratio) => ratio.toFixed(3));
  const extremes = ratios.length > 1 ? ` (${least} to ${most})` : '';
  return [
    median(without).toFixed(decimals),
    median(beside).toFixed(decimals),
    `${median(ratios).toFixed(3)}${extremes}`,
  ];
}

const LAG_COLUMNS: readonly Column[] = [
  '',
  'consumer',
  { right: 'callbacks' },
  { right: 'events' },
  { right: 'p50 ms' },
  { right: 'p99 ms' },
  { right: 'max ms' },
];

function lagRow(load: Load, name: string, latencies: Latencies, pairs: readonly Pair[]): string[] {
  const { count, p50Ms, p99Ms, maxMs } = latencies.summary();
  const answers = pairs.reduce((sum, { beside }) => sum + beside.answers, 0);
  const times = [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(0));
  return [describeLoad(load), name, String(answers), String(count), ...times];
}

/** The times of all events that a consumer got. */
class Arrivals {
  private readonly all: { readonly timeMs: number; readonly lagMs: number }[] = [];

  readonly take = ({ time }: { readonly time: string }): void => {
    const timeMs = Date.parse(time);
    this.all.push({ timeMs, lagMs: Date.now() - timeMs });
  };

  /** The lags of the events of this period. */
  lagsMs({ fromMs, toMs }: Pick<Generated, 'fromMs' | 'toMs'>): number[] {
    return this.all.flatMap(({ timeMs, lagMs }) => (timeMs >= fromMs && timeMs < toMs ? [lagMs] : []));
  }
}

/** A consumer in this process that reads and acknowledges pages. */
async function startPull(adminUrl: string): Promise<Consumer> {
  const arrivals = new Arrivals();
  const consumer = new FeedConsumer('pull', arrivals.take);
  await consumer.create(adminUrl, 'now');
  let isEnding = false;
  const run = async () => {
    while (!isEnding) await consumer.step(adminUrl, WAIT_SECONDS, PAGE_EVENTS);
  };
  const running = run();
  // The error is thrown by `end`.
  running.catch(() => {});
  const end = async () => {
    isEnding = true;
    await running;
    await consumer.delete(adminUrl);
  };
  return { name: 'pull', arrivals, end };
}

/** `walletd feed`, which writes the events to its output. */
async function startPush(adminUrl: string): Promise<Consumer> {
  const arrivals = new Arrivals();
  const feed = new FeedConsumer('push', arrivals.take);
  await feed.create(adminUrl, 'now');
  const args = [`${ROOT}src/cli/walletd.sh`, 'feed', '--name', 'push', '--to', 'stdout', '--server', adminUrl];
  const env = { ...process.env, WALLETD_LOG_LEVEL: 'error' };
  const child = spawn('sh', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => void child.kill('SIGKILL'));
  createInterface({ input: child.stdout }).on('line', (line) => arrivals.take(JSON.parse(line)));
  const end = async () => {
    child.kill('SIGTERM');
    await once(child, 'close');
    await feed.delete(adminUrl);
  };
  return { name: 'push', arrivals, end };
}
