/*
 * Preloaded into a walletd (`--import`). Makes walletd send itself a signal at one step of its store or of a shard's
 * transfer:
 *
 *   FAULT_AT='SIGKILL before publishSnapshot 2'    before it publishes for the second time
 *   FAULT_AT='SIGSTOP after trimLog 1'             after the log has been trimmed, before any caller gets the result
 */

import { Shard } from '../../src/engine/shard.js';
import { Follower } from '../../src/log/follower.js';
import { Heads } from '../../src/store/lmdb/heads.js';
import { LmdbMeta } from '../../src/store/lmdb/lmdb-meta.js';
import { LmdbSnapshots } from '../../src/store/lmdb/lmdb-snapshots.js';
import { LmdbWal } from '../../src/store/lmdb/lmdb-wal.js';
import { RedisMeta } from '../../src/store/redis/redis-meta.js';
import { RedisSnapshots } from '../../src/store/redis/redis-snapshots.js';
import { RedisWal } from '../../src/store/redis/redis-wal.js';

const [signal = '', when = '', step = '', time = ''] = (process.env.FAULT_AT ?? '').split(' ');
let times = 0;
let isKnown = false;

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;

const STEPS = [LmdbWal, LmdbSnapshots, LmdbMeta, RedisWal, RedisSnapshots, RedisMeta, Heads, Shard, Follower];

for (const { prototype } of STEPS) {
  const methods = prototype as unknown as Record<string, Method>;
  const original = methods[step];
  if (original === undefined) continue;
  isKnown = true;
  methods[step] = async function (...args) {
    times++;
    const isNow = times === Number(time);
    if (isNow && when === 'before') process.kill(process.pid, signal);
    const result = await original.apply(this, args);
    if (isNow && when === 'after') process.kill(process.pid, signal);
    return result;
  };
}

if (!isKnown) throw new Error(`no store has a step ${step}`);
