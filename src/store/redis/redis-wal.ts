import { must } from '../../base/assert.js';
import { FencedError } from '../../log/take-over.js';
import { formatLsn, type Lsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import {
  type Append,
  type AppendOutcome,
  appendOf,
  type Head,
  isSameHead,
  type MakeFence,
  type Takeover,
  type Wal,
} from '../../ports/wal.js';
import { decodeHead } from '../format/entry-codec.js';
import type { Durability } from './durability.js';
import type { Keys } from './keys.js';
import type { MasterRouter } from './master-router.js';
import { RedisAppends } from './redis-appends.js';
import type { RedisMeta } from './redis-meta.js';

const FENCE_ATTEMPTS_MAX = 100;

type StreamEntry = readonly [id: Buffer, fields: readonly [name: Buffer, value: Buffer]];

/** The logs of a store in Redis. */
export class RedisWal implements Wal {
  private readonly appends: RedisAppends;

  constructor(
    private readonly router: MasterRouter,
    private readonly keys: Keys,
    durability: Durability,
    private readonly meta: RedisMeta,
  ) {
    this.appends = new RedisAppends(router, keys, durability, meta);
  }

  appendQueueOf(shard: number): number {
    return this.router.masters.appendQueueOf(shard);
  }

  append(appends: readonly Append[], isLate?: () => boolean): Promise<readonly AppendOutcome[]> {
    return this.appends.append(appends, isLate);
  }

  async fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    const { masters } = this.router;
    return masters.isOne ? await this.fenceTogether(shards, makeFence) : await this.fenceLed(shards, makeFence);
  }

  private async fenceTogether(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    const master = await this.router.masters.home();
    return await again(async () => {
      const fences = await this.fencesFor(shards, makeFence);
      const outcomes = await this.appends.appendAll(master, fences.map(appendOf));
      for (const outcome of outcomes) throwFailed(outcome);
      return outcomes.every(({ type }) => type === 'ok') ? fences : undefined;
    });
  }

  /**
   * Fences logs on several masters, which no single call can address. The owner that gets the first log must get all of
   * them. The first log is fenced first; its head is checked again between reading the head of another log and fencing
   * that log. A later owner has therefore either fenced the first log before that check, or fences every log after this
   * fence. If two owners compete, the later one gets all logs and the other one a `FencedError`.
   */
  private async fenceLed([lead = 0, ...others]: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    const first = await again(async () => (await this.fenceSome([lead], makeFence, async () => {}))[0]);
    const checkLead = async () => {
      const head = await this.head(lead);
      if (!isSameHead(head, first.entry.head)) throw new FencedError(lead, head);
    };
    const fences = new Map([[lead, first]]);
    return await again(async () => {
      const left = others.filter((shard) => !fences.has(shard));
      for (const fence of await this.fenceSome(left, makeFence, checkLead)) fences.set(fence.shard, fence);
      if (fences.size <= others.length) return undefined;
      return [lead, ...others].map((shard) => must(fences.get(shard), 'each has its fence'));
    });
  }

  /** Fences the logs whose owners have not appended meanwhile. */
  private async fenceSome(
    shards: readonly number[],
    makeFence: MakeFence,
    check: () => Promise<void>,
  ): Promise<readonly Takeover[]> {
    const fences = await this.fencesFor(shards, makeFence);
    await check();
    const outcomes = await this.append(fences.map(appendOf));
    for (const outcome of outcomes) throwFailed(outcome);
    return fences.filter((_, i) => outcomes[i]?.type !== 'conflict');
  }

  private async fencesFor(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    return await Promise.all(
      shards.map(async (shard) => {
        const [previous, newest] = await Promise.all([this.head(shard), this.newest(shard)]);
        return { shard, previous, entry: makeFence(shard, previous, newest) };
      }),
    );
  }

  private async newest(shard: number): Promise<Buffer | undefined> {
    const range = [this.keys.log(shard), '+', '-', 'COUNT', 1];
    const entries = await this.router.onShard(shard, 'appends', (client) => client.callBuffer('XREVRANGE', ...range));
    return (entries as StreamEntry[])[0]?.[1][1];
  }

  /**
   * The current head. Throws a `RecoveryError` if the shard has none. If the whole store is gone, throws an error that
   * makes the caller wait for it.
   */
  async head(shard: number): Promise<Head> {
    const { keys, router } = this;
    const bytes = await router.onShard(shard, 'appends', (client) => client.getBuffer(keys.head(shard)));
    if (bytes !== null) return decodeHead(bytes);
    const master = await router.masters.of(shard);
    await master.appends.use((client) => this.meta.checkStore(client, master));
    throw new RecoveryError(
      `the log of shard ${shard} has no head (key ${keys.head(shard)}): restore it from a copy of this Redis, ` +
        'or restore a backup elsewhere',
    );
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    const range = [this.keys.log(shard), `(${formatLsn(after)}`, '+', 'COUNT', limit];
    const entries = await this.router.onShard(shard, 'reads', (client) => client.callBuffer('XRANGE', ...range));
    return (entries as StreamEntry[]).map(([, [, bytes]]) => bytes);
  }
}

/**
 * Repeats until there is a result. An owner appends about once a millisecond, and an attempt takes only a fraction of a
 * millisecond.
 */
async function again<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let attempts = 1; attempts <= FENCE_ATTEMPTS_MAX; attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new Error(`the owner of the logs was faster ${FENCE_ATTEMPTS_MAX} times`);
}

function throwFailed(outcome: AppendOutcome): void {
  if (outcome.type === 'failed') throw outcome.error;
}
