import type { Backup } from '../../admin/console/overview.js';
import type { ShardStatus } from '../../threads/shards.js';
import type { Samples } from '../../tools/status/samples.js';
import type { Readiness } from '../../tools/status/status.js';
import type { Judged } from './alert-rules.js';
import { heapsOf, shardLines, storeOf } from './node-overview.js';

const MS = 1000;

/**
 * The part of an overview that alert rules read, taken from a scrape of another process. A single scrape contains no
 * callback rates.
 */
export function judgedOf(samples: Samples, { status, shards }: Readiness, backup: Backup): Judged {
  const lines = shards.map(({ shard, state, reason }) => {
    return { shard, state: state as ShardStatus['state'], players: 0, waiting: 0, reason };
  });
  return {
    startedMs: samples.sum('process_start_time_seconds') * MS,
    isReady: status === 'ready',
    isWarmingUp: status === 'warming-up',
    callbacks: [],
    shards: shardLines(lines, samples, undefined),
    heaps: heapsOf(samples),
    store: { ...storeOf(samples), appendP99Ms: null },
    backup,
  };
}
