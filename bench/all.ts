import { runCost } from './cost/cost.js';
import { runLoad } from './load/load.js';
import { runMicro } from './micro/micro.js';
import { runOverload } from './overload/overload.js';
import { runPeers } from './peers/peers.js';
import { runRecovery } from './recovery/recovery.js';
import type { Results } from './report/results.js';
import { runScale } from './scale/scale.js';
import type { StoreChoice } from './support/store.js';

export interface AllSettings extends StoreChoice {
  /** Duration of each run. */
  readonly seconds: number;
  readonly rounds: number;
}

type Measured = Omit<Results, 'environment'>;

/** Runs every bench briefly. A chapter that fails is reported and left out, and the process exits with code 1. */
export async function runAll(settings: AllSettings): Promise<Measured> {
  const common = { ...settings, connections: 128, players: 10_000, mix: 'real' } as const;
  const perLoad = { ...common, workers: [0], players: [common.players], openBets: 0 };
  const chapters: Readonly<Record<string, () => Promise<Measured>>> = {
    load: async () => ({ load: await runLoad({ ...perLoad, connections: [16, 64, 256] }) }),
    'open load': async () => ({
      openLoad: await runLoad({ ...perLoad, connections: undefined, rate: [2000, 5000, 10_000, 20_000] }),
    }),
    overload: async () => ({
      overload: await runOverload({ ...common, workers: 0, connections: 8000, times: 2 }),
    }),
    scale: async () => ({
      scale: await runScale({ ...common, workers: [0, 1, 2], players: [10_000, 100_000, 1_000_000] }),
    }),
    recovery: async () => ({
      recovery: await runRecovery({ ...common, workers: [0, 2], players: 100_000, rate: 5000 }),
    }),
    cost: async () => ({ cost: await runCost(common) }),
    peers: async () => ({ peers: await runPeers(common) }),
    micro: async () => ({ micro: await runMicro({ seconds: 1 }) }),
  };
  let measured: Measured = {};
  for (const [name, run] of Object.entries(chapters)) {
    console.log(`\n${name}\n`);
    try {
      measured = { ...measured, ...(await run()) };
    } catch (error) {
      console.error(`${name}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  return measured;
}
