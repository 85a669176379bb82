import Table from 'cli-table3';
import { generate } from '../load/generate.js';
import type { LoadResult } from '../load/generator.js';
import type { Mix } from '../load/stories.js';
import { withCleanUp } from '../support/clean-up.js';
import { fsyncMs, machine } from '../support/machine.js';
import { startWalletd, verify } from '../support/servers.js';
import { type StoreKind, startStore } from '../support/store.js';

export interface OverloadSettings {
  readonly store: StoreKind;
  readonly workers: number;
  readonly seconds: number;
  /** So many that what is offered does not depend on what is answered. */
  readonly connections: number;
  readonly players: number;
  readonly mix: Mix;
  readonly folder: string;
  /** Of the capacity. */
  readonly times: number;
  /** walletd's `limits.inFlightMax`. Undefined: as it comes, which is more than there are connections. */
  readonly inFlight?: number;
}

const WARM_UP_SECONDS = 2;
const CAPACITY_SECONDS = 5;
const CAPACITY_CONNECTIONS = 128;
/** `requestDeadlineMs`, as it comes. */
const DEADLINE_MS = 3000;

/** What becomes of callbacks when more come than can be answered: the capacity first, then a multiple of it. */
export function runOverload(settings: OverloadSettings): Promise<void> {
  return withCleanUp(async () => {
    const { folder, workers, times, seconds, connections } = settings;
    const store = await startStore(settings.store, folder);
    console.log(machine());
    console.log(`durability: ${store.durability} (one fdatasync here: ${fsyncMs(folder)} ms)\n`);
    const server = await startWalletd(store, workers, limits(settings));
    const closed = { ...settings, connections: CAPACITY_CONNECTIONS };
    await generate(server, { ...closed, seconds: WARM_UP_SECONDS });
    const before = await generate(server, { ...closed, seconds: CAPACITY_SECONDS });
    const capacity = Math.round(before.perSecond);
    console.log(`capacity of ${server.name}: ${capacity}/s over ${CAPACITY_CONNECTIONS} connections`);
    console.log(`offered: ${times} times that for ${seconds} s over ${connections} connections\n`);
    const result = await generate(server, { ...settings, rate: times * capacity, isOverload: true });
    const after = await generate(server, { ...closed, seconds: CAPACITY_SECONDS });
    verify(server);
    print(result, seconds);
    const goodput = (result.perSecond * 2) / (before.perSecond + after.perSecond);
    console.log(`goodput: ${goodput.toFixed(2)} of the capacity before and after (${Math.round(after.perSecond)}/s)`);
  });
}

function limits({ inFlight }: OverloadSettings): Readonly<Record<string, string>> {
  return inFlight === undefined ? {} : { WALLETD_LIMITS_IN_FLIGHT_MAX: String(inFlight) };
}

function print(result: LoadResult, seconds: number): void {
  const { answers, refusals, notSent, uncertainPlayers } = result;
  const due = answers + refusals.count + notSent;
  const share = (count: number) => `${((count / due) * 100).toFixed(1)} %`;
  const ms = (value: number) => value.toFixed(1);
  const table = new Table({
    head: ['', '/s', 'of due', 'p50 ms', 'p99 ms', 'max ms'],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  const perSecond = (count: number) => Math.round(count / seconds);
  table.push(
    ['succeeded', perSecond(answers), share(answers), ...[result.p50Ms, result.p99Ms, result.maxMs].map(ms)],
    [
      'refused with 503',
      perSecond(refusals.count),
      share(refusals.count),
      ...[refusals.p50Ms, refusals.p99Ms, refusals.maxMs].map(ms),
    ],
    ['not sent: no connection was free', perSecond(notSent), share(notSent), '', '', ''],
  );
  console.log(table.toString());
  console.log(`longest wait of a success: ${ms(result.maxMs)} ms; to reach: ${DEADLINE_MS}, the deadline`);
  console.log(`generator: ${Math.round(result.generatorCpuShare * 100)} % of a core`);
  console.log(`every balance is right; ${uncertainPlayers} players have one of those that refusals leave possible`);
}
