import type { Redis } from 'ioredis';
import type { Lsn } from '../../shard/log/lsn.js';
import { formatLsn } from '../../shard/log/lsn.js';
import { RecoveryError } from '../../shard/log/recovery-error.js';
import {
  type Append,
  type AppendOutcome,
  appendOf,
  type Head,
  type SealFence,
  type Takeover,
} from '../../shard/log/wal.js';
import type { StoredSnapshot } from '../../shard/snapshot/snapshot-store.js';
import { decodeHead, encodeHead, genesisHead, HEAD_LENGTH } from '../format/entry-codec.js';
import { decodeAnyMeta, decodeMeta, encodeMeta, type StoreMeta } from '../meta.js';
import type { Store } from '../store.js';
import { confirmed, type Durability } from './durability.js';
import { APPEND, ensureFunction, SNAPSHOT } from './functions.js';
import { Keys } from './keys.js';
import type { RedisAddress } from './redis-address.js';
import { RedisConnection } from './redis-connection.js';
import { RedisSnapshots } from './redis-snapshots.js';
import { ServerCheck, ServerRefused } from './server-check.js';
import { explain } from './server-error.js';

export interface RedisStoreOptions {
  readonly address: RedisAddress;
  /** Begins the names of all keys, so that several stores fit in one database. */
  readonly prefix: string;
  readonly durability: Durability;
  /** True: the server's settings are not looked at. */
  readonly trustConfig: boolean;
}

const APPEND_TIMEOUT_MS = 2000;
/** A page of a log can be some megabytes, over a slow line. */
const READ_TIMEOUT_MS = 30_000;
const FENCE_ATTEMPTS_MAX = 100;
const OK: AppendOutcome = { type: 'ok' };
const DUPLICATE: AppendOutcome = { type: 'duplicate' };
const NOTHING_THERE: Head = { lsn: { epoch: 0, sequence: 0 }, nonce: '0'.repeat(16), checksum: 0 };

type StreamEntry = readonly [id: Buffer, fields: readonly [name: Buffer, value: Buffer]];

/** As `walletd_append_2` tells it: a word, and for some a value. */
type Told = readonly [word: Buffer, value?: Buffer];

/**
 * The logs of a store in Redis: one stream and one head per shard; and its snapshots.
 *
 *   PREFIX:meta                   StoreMeta as JSON
 *   PREFIX:{SHARD}:head           head
 *   PREFIX:{SHARD}:wal            stream; id = LSN, field `e` = entry
 *   PREFIX:{SHARD}:snapshots      hash; id -> manifest, empty while unfinished
 *   PREFIX:{SHARD}:snapshot:ID    hash; index -> chunk
 *
 * Appends have a connection of their own, on which nothing else can make them wait.
 */
export class RedisStore implements Store {
  readonly canLoseTail = true;
  private readonly appends: RedisConnection;
  private readonly reads: RedisConnection;
  private readonly keys: Keys;
  private readonly stored: RedisSnapshots;
  private readonly serverCheck: ServerCheck;
  private storeId: string | undefined = undefined;

  constructor(private readonly options: RedisStoreOptions) {
    const { address, prefix, durability, trustConfig } = options;
    const check = (client: Redis) => this.checkForAppends(client);
    this.appends = new RedisConnection(address.options, check, APPEND_TIMEOUT_MS);
    this.reads = new RedisConnection(address.options, (client) => ensureFunction(client, SNAPSHOT), READ_TIMEOUT_MS);
    this.serverCheck = new ServerCheck(durability, trustConfig);
    this.keys = new Keys(prefix);
    this.stored = new RedisSnapshots(this.reads, this.keys, durability);
  }

  /** Undefined in an empty store. Throws when the server cannot be reached or must not be used. */
  async maybeMeta(): Promise<StoreMeta | undefined> {
    const bytes = await this.appends.use((client) => client.getBuffer(this.keys.meta));
    const meta = bytes === null ? undefined : decodeMeta(bytes);
    this.storeId = meta?.storeId;
    return meta;
  }

  /** Creates meta record and heads, all or nothing; false when another process was faster or the store is there already. */
  async create(meta: StoreMeta): Promise<boolean> {
    const pairs: (string | Buffer)[] = [this.keys.meta, encodeMeta(meta)];
    for (let shard = 0; shard < meta.shards; shard++) {
      pairs.push(this.keys.head(shard), encodeHead(genesisHead(meta.storeId, shard)));
    }
    const { durability } = this.options;
    const created = await this.appends.use((client) => confirmed(client, durability, client.call('MSETNX', ...pairs)));
    const wasCreated = created === 1;
    if (wasCreated) this.storeId = meta.storeId;
    return wasCreated;
  }

  async complete(meta: StoreMeta): Promise<void> {
    const { durability } = this.options;
    await this.appends.use((client) => confirmed(client, durability, client.set(this.keys.meta, encodeMeta(meta))));
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    try {
      return await this.call('each', appends);
    } catch (error) {
      // Whatever was written or not: the same bytes go again, and the compare-and-set says which it was.
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
      // Their owner has appended meanwhile. It does so about once in a millisecond, and this takes a fraction of one.
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

  /** Sends one call, and waits until its effect is as durable as it was set to be. */
  private async call(mode: 'all' | 'each', appends: readonly Append[]): Promise<AppendOutcome[]> {
    return await this.appends.use(async (client) => {
      const sent = client.callBuffer('FCALL', this.callOf(mode, appends)) as Promise<Told[]>;
      const told = await confirmed(client, this.options.durability, sent);
      const outcomes = told.map(outcomeOf);
      // A head that is missing: when the whole store is gone its return is awaited, else this log needs a person.
      if (outcomes.some((outcome) => outcome.type === 'conflict' && outcome.head === NOTHING_THERE)) {
        await this.checkStore(client);
      }
      return outcomes;
    });
  }

  async head(shard: number): Promise<Head> {
    return await this.appends.use(async (client) =>
      this.decodeHead(client, shard, await client.getBuffer(this.keys.head(shard))),
    );
  }

  /** Throws a `RecoveryError` when there is none; when the whole store is gone, what makes the caller wait for it. */
  private async decodeHead(client: Redis, shard: number, bytes: Buffer | null): Promise<Head> {
    if (bytes !== null) return decodeHead(bytes);
    await this.checkStore(client);
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

  snapshots(shard: number): Promise<readonly StoredSnapshot[]> {
    return this.stored.snapshots(shard);
  }

  readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]> {
    return this.stored.readChunks(shard, id, first, count);
  }

  beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean> {
    return this.stored.beginSnapshot(shard, nonce, id);
  }

  writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean> {
    return this.stored.writeChunk(shard, nonce, id, index, bytes);
  }

  publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean> {
    return this.stored.publishSnapshot(shard, nonce, id, manifest);
  }

  deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean> {
    return this.stored.deleteSnapshot(shard, nonce, kept, id);
  }

  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean> {
    return this.stored.trimLog(shard, nonce, kept, before);
  }

  async close(): Promise<void> {
    this.appends.close();
    this.reads.close();
  }

  private callOf(mode: 'all' | 'each', appends: readonly Append[]): (string | number | Buffer)[] {
    const keys: string[] = [];
    const confirm = this.options.durability.type === 'replicas' ? 'confirm' : '';
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

  private async checkForAppends(client: Redis): Promise<void> {
    // Reads follow appends: what is read must be the log that is appended to, also after a failover.
    this.reads.reset();
    await this.serverCheck.run(client);
    await ensureFunction(client, APPEND);
    await ensureFunction(client, SNAPSHOT);
    await this.checkStore(client);
  }

  /** After a reconnect: another server may answer at this address, with nothing on it or with another store. */
  private async checkStore(client: Redis): Promise<void> {
    if (this.storeId === undefined) return;
    const bytes = await client.getBuffer(this.keys.meta);
    if (bytes === null) {
      throw new ServerRefused(
        `Redis at ${this.options.address.name} is empty: the store ${this.storeId} is gone from it; ` +
          'nothing is written until it is back',
      );
    }
    const { storeId } = decodeAnyMeta(bytes);
    if (storeId !== this.storeId) {
      throw new ServerRefused(
        `Redis at ${this.options.address.name} has another store: ${storeId}, not ${this.storeId}`,
      );
    }
  }
}

function outcomeOf([word, value]: Told): AppendOutcome {
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
