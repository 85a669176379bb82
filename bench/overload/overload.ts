import { type Column, formatTable } from '../../src/cli/print/table.js';
import { withCleanUp } from '../../test/support/clean-up.js';
import { generate, warmUp } from '../load/generate.js';
import type { LatencySummary } from '../load/latencies.js';
import { generatorSentences } from '../load/race-table.js';
import type { LoadResult } from '../load/run.js';
import type { Mix } from '../load/stories.js';
import { describeFsync, machine } from '../support/machine.js';
import { startWalletd, verify } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';

export interface OverloadSettings extends StoreChoice {
  readonly workers: number;
  readonly seconds: number;
  /** Enough connections that the offered load does not depend on the answers. */
  readonly connections: number;
  readonly players: number;
  readonly mix: Mix;
  /** Offered load as a multiple of capacity. */
  readonly times: number;
  /** walletd's `limits.inFlightMax`. If undefined, the default applies, which exceeds the number of connections. */
  readonly inFlight?: number;
}

/** Capacity before and after the overload, and the outcome of the overload itself. */
export interface OverloadReport {
  readonly durability: string;
  readonly times: number;
  readonly connections: number;
  readonly before: LoadResult;
  readonly overload: LoadResult;
  readonly after: LoadResult;
}

const CAPACITY_SECONDS = 5;
/**
 * Number of connections for measuring the capacity, enough to fill the largest commits. With fewer connections, the
 * load may reach only half of the capacity.
 */
const CAPACITY_CONNECTIONS_MAX = 1024;
/** The default value of `requestDeadlineMs`. */
const DEADLINE_MS = 3000;

/** Measures callbacks under overload: first the capacity, then a multiple of it. */
export function runOverload(settings: OverloadSettings): Promise<OverloadReport> {
  return withCleanUp(async () => {
    const { folder, workers, times, seconds, connections } = settings;
    const store = await startStore(settings);
    console.log(machine());
    console.log(`durability: ${store.durability} (one fdatasync here: ${describeFsync(folder)})\n`);
    const server = await startWalletd(store, workers, limits(settings));
    const { inFlight = CAPACITY_CONNECTIONS_MAX } = settings;
    const closed = { ...settings, connections: Math.min(inFlight, CAPACITY_CONNECTIONS_MAX) };
    await warmUp(server, closed);
    const before = await generate(server, { ...closed, seconds: CAPACITY_SECONDS });
    const capacity = Math.round(before.perSecond);
    console.log(`capacity of ${server.name}: ${capacity}/s over ${closed.connections} connections`);
    console.log(`offered: ${times} times that for ${seconds} s over ${connections} connections\n`);
    const overload = await generate(server, { ...settings, rate: times * capacity, isOverload: true });
    const after = await generate(server, { ...closed, seconds: CAPACITY_SECONDS });
    verify(server);
    const report = { durability: store.durability, times, connections, before, overload, after };
    console.log(formatTable(OVERLOAD_COLUMNS, overloadRows(report)));
    for (const sentence of overloadSentences(report)) console.log(sentence);
    return report;
  });
}

function limits({ inFlight }: OverloadSettings): Readonly<Record<string, string>> {
  return inFlight === undefined ? {} : { WALLETD_LIMITS_IN_FLIGHT_MAX: String(inFlight) };
}

export const OVERLOAD_COLUMNS: readonly Column[] = [
  '',
  ...['count', 'of all', 'p50 ms', 'p99 ms', 'max ms'].map((right) => ({ right })),
];

export function overloadRows({ overload }: OverloadReport): string[][] {
  const { answers, refusals, notSent } = overload;
  const due = answers + refusals.count + notSent;
  const share = (count: number) => [String(count), `${((count / due) * 100).toFixed(1)} %`];
  const ms = ({ count, p50Ms, p99Ms, maxMs }: LatencySummary) =>
    [p50Ms, p99Ms, maxMs].map((value) => (count === 0 ? '' : value.toFixed(1)));
  return [
    ['succeeded', ...share(answers), ...ms(overload)],
    ['refused with 503', ...share(refusals.count), ...ms(refusals)],
    ['not sent: no connection was free', ...share(notSent), '', '', ''],
  ];
}

export function overloadSentences({ before, overload, after }: OverloadReport): string[] {
  const goodput = overload.perSecond / ((before.perSecond + after.perSecond) / 2);
  const isOverload = overload.notSent + overload.refusals.count > 0;
  return [
    ...(isOverload ? [] : ['the server has kept up with all of it: this was no overload']),
    `goodput: ${Math.round(overload.perSecond)}/s, ${goodput.toFixed(2)} of the capacity before and after; to reach: 0.8`,
    `longest wait, also of what had no answer at the end: ${overload.maxMs.toFixed(0)} ms; to stay below: ${DEADLINE_MS}, the deadline`,
    `every balance is right; of ${overload.uncertainPlayers} players refusals leave several possible`,
    `the generator took ${Math.round(overload.generatorCpuShare * 100)} % of a core`,
    ...generatorSentences([before, overload, after].map(({ generatorCpuShare }) => generatorCpuShare)),
  ];
}
