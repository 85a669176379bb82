import type { Redis } from 'ioredis';
import { formatLsn, type Lsn } from '../../shard/log/lsn.js';
import { RecoveryError } from '../../shard/log/recovery-error.js';
import {
  type Append,
  type AppendOutcome,
  appendOf,
  type Head,
  type SealFence,
  type Takeover,
  type Wal,
} from '../../shard/log/wal.js';
import { decodeHead, encodeHead, HEAD_LENGTH } from '../format/entry-codec.js';
import { confirmed, type Durability } from './durability.js';
import { APPEND } from './functions.js';
import type { Keys } from './keys.js';
import type { RedisConnection } from './redis-connection.js';
import type { RedisMeta } from './redis-meta.js';
import { explain } from './server-error.js';

const FENCE_ATTEMPTS_MAX = 100;
const OK: AppendOutcome = { type: 'ok' };
const DUPLICATE: AppendOutcome = { type: 'duplicate' };
const NOTHING_THERE: Head = { lsn: { epoch: 0, sequence: 0 }, nonce: '0'.repeat(16), checksum: 0 };

type StreamEntry = readonly [id: Buffer, fields: readonly [name: Buffer, value: Buffer]];

/** One outcome, as `walletd_append_2` replies: a word, and for some a value. */
type Reply = readonly [word: Buffer, value?: Buffer];

/** The logs of a store in Redis. */
export class RedisWal implements Wal {
  constructor(
    private readonly appends: RedisConnection,
    private readonly reads: RedisConnection,
    private readonly keys: Keys,
    private readonly durability: Durability,
    private readonly meta: RedisMeta,
  ) {}

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    try {
      return await this.call('each', appends);
    } catch (error) {
      // Written or not: the retry sends the same bytes, and the compare-and-set shows which it was.
      const failed: AppendOutcome = { type: 'failed', error: error as Error };
      return appends.map(() => failed);
    }
  }

  async fence(shards: readonly number[], seal: SealFence): Promise<readonly Takeover[]> {
    for (let attempt = 1; attempt <= FENCE_ATTEMPTS_MAX; attempt++) {
      const newest = await this.appends.use((client) => Promise.all(shards.map((shard) => this.newest(client, shard))));
      const fences = newest.map(({ shard, head, bytes }) => ({
        shard,
        previous: head,
        entry: seal(shard, head, bytes),
      }));
      const outcomes = await this.call('all', fences.map(appendOf));
      if (outcomes.every(({ type }) => type === 'ok')) return fences;
      for (const outcome of outcomes) if (outcome.type === 'failed') throw outcome.error;
      // Their owner has appended meanwhile. It does so about once a millisecond, and this takes a fraction of one.
    }
    throw new Error(`the owner of the logs was faster ${FENCE_ATTEMPTS_MAX} times`);
  }

  private async newest(
    client: Redis,
    shard: number,
  ): Promise<{ shard: number; head: Head; bytes: Buffer | undefined }> {
    const [head, entries] = await Promise.all([
      client.getBuffer(this.keys.head(shard)),
      client.callBuffer('XREVRANGE', this.keys.log(shard), '+', '-', 'COUNT', 1) as Promise<StreamEntry[]>,
    ]);
    return { shard, head: await this.decodeHead(client, shard, head), bytes: entries[0]?.[1][1] };
  }

  /** Sends one call, and waits until its effect is as durable as the settings ask. */
  private async call(mode: 'all' | 'each', appends: readonly Append[]): Promise<AppendOutcome[]> {
    return await this.appends.use(async (client) => {
      const sent = client.callBuffer('FCALL', this.callOf(mode, appends)) as Promise<Reply[]>;
      const replies = await confirmed(client, this.durability, sent);
      const outcomes = replies.map(outcomeOf);
      // A head is missing. When the whole store is gone the caller waits for its return, else this log needs a person.
      if (outcomes.some((outcome) => outcome.type === 'conflict' && outcome.head === NOTHING_THERE)) {
        await this.meta.checkStore(client);
      }
      return outcomes;
    });
  }

  async head(shard: number): Promise<Head> {
    return await this.appends.use(async (client) =>
      this.decodeHead(client, shard, await client.getBuffer(this.keys.head(shard))),
    );
  }

  /** Throws a `RecoveryError` when there is none; when the whole store is gone, an error that makes the caller wait for it. */
  private async decodeHead(client: Redis, shard: number, bytes: Buffer | null): Promise<Head> {
    if (bytes !== null) return decodeHead(bytes);
    await this.meta.checkStore(client);
    throw new RecoveryError(
      `the log of shard ${shard} has no head (key ${this.keys.head(shard)}): bring it back from a copy of this Redis, ` +
        'or restore a backup elsewhere',
    );
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    const range = [this.keys.log(shard), `(${formatLsn(after)}`, '+', 'COUNT', limit];
    const entries = (await this.reads.use((client) => client.callBuffer('XRANGE', ...range))) as StreamEntry[];
    return entries.map(([, [, bytes]]) => bytes);
  }

  private callOf(mode: 'all' | 'each', appends: readonly Append[]): (string | number | Buffer)[] {
    const keys: string[] = [];
    const confirm = this.durability.type === 'replicas' ? 'confirm' : '';
    const args: (string | number | Buffer)[] = [mode, confirm];
    for (const { shard, expected, entries } of appends) {
      keys.push(this.keys.head(shard), this.keys.log(shard));
      const before = encodeHead(expected);
      const newest = entries.at(-1);
      args.push(before, newest === undefined ? before : encodeHead(newest.head), entries.length);
      for (const { head, bytes } of entries) args.push(formatLsn(head.lsn), bytes);
    }
    return [APPEND.name, keys.length, ...keys, ...args];
  }
}

function outcomeOf([word, value]: Reply): AppendOutcome {
  switch (word.toString()) {
    case 'ok':
      return OK;
    case 'duplicate':
      return DUPLICATE;
    case 'conflict':
      return { type: 'conflict', head: value?.length === HEAD_LENGTH ? decodeHead(value) : NOTHING_THERE };
    default:
      return { type: 'failed', error: explain(new Error(value?.toString() ?? 'unknown answer')) };
  }
}
