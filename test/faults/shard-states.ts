import type { Target } from './load.js';

/** The state of each shard according to /readyz. */
export async function shardStates(target: Target): Promise<string[]> {
  const response = await fetch(`${target.adminUrl}/readyz`, { signal: AbortSignal.timeout(20_000) });
  const { shards } = (await response.json()) as { shards: { state: string }[] };
  return shards.map(({ state }) => state);
}
