import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { formatLsn, type Lsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import { decodeHead, encodeHead } from '../../src/store/format/entry-codec.js';
import { decodeMeta, type StoreMeta } from '../../src/store/meta.js';
import type { RedisServer } from '../support/redis-server.js';
import type { RawStore } from './raw-store.js';

const PREFIX = 'walletd';
/** The field of a stream entry that has the bytes. */
const FIELD = Buffer.from('e');

type StreamEntry = readonly [id: Buffer, fields: readonly [name: Buffer, value: Buffer]];

export class RawRedis implements RawStore {
  private current: Redis | undefined = undefined;

  constructor(private readonly server: RedisServer) {}

  get url(): string {
    return this.server.url;
  }

  async meta(): Promise<StoreMeta> {
    return decodeMeta((await this.client().getBuffer(`${PREFIX}:meta`)) as Buffer);
  }

  async head(shard: number): Promise<Head> {
    return decodeHead((await this.client().getBuffer(`${PREFIX}:{${shard}}:head`)) as Buffer);
  }

  async entries(shard: number, after: Lsn, limit: number): Promise<Buffer[]> {
    const range = [log(shard), `(${formatLsn(after)}`, '+', 'COUNT', limit];
    const page = (await this.client().callBuffer('XRANGE', ...range)) as StreamEntry[];
    return page.map(([id, [, bytes]]) => {
      assert.equal(id.toString(), `${bytes.readUInt32BE(4)}-${bytes.readBigUInt64BE(8)}`, 'an entry has its LSN as id');
      return bytes;
    });
  }

  async putEntry(shard: number, lsn: Lsn, bytes: Buffer): Promise<void> {
    const id = Buffer.from(formatLsn(lsn));
    const before = await this.range(shard, '-', `(${id}`);
    const behind = await this.range(shard, `(${id}`, '+');
    await rewriteStream(this.client(), log(shard), [...before, [id, [FIELD, bytes]], ...behind]);
  }

  async removeEntry(shard: number, lsn: Lsn): Promise<void> {
    await this.client().call('XDEL', log(shard), formatLsn(lsn));
  }

  async putHead(shard: number, head: Head): Promise<void> {
    await this.client().set(`${PREFIX}:{${shard}}:head`, encodeHead(head));
    const entries = await this.range(shard, '-', '+');
    if (entries.length > 0) await rewriteStream(this.client(), log(shard), entries);
  }

  async removeHead(shard: number): Promise<void> {
    await this.client().del(`${PREFIX}:{${shard}}:head`);
  }

  async manifests(shard: number): Promise<Map<string, Buffer>> {
    return new Map(Object.entries(await this.client().hgetallBuffer(`${PREFIX}:{${shard}}:snapshots`)));
  }

  async putManifest(shard: number, id: string, bytes: Buffer): Promise<void> {
    await this.client().hset(`${PREFIX}:{${shard}}:snapshots`, id, bytes);
  }

  async chunk(shard: number, id: string, index: number): Promise<Buffer | undefined> {
    return (await this.client().hgetBuffer(chunks(shard, id), String(index))) ?? undefined;
  }

  async putChunk(shard: number, id: string, index: number, bytes: Buffer): Promise<void> {
    await this.client().hset(chunks(shard, id), String(index), bytes);
  }

  async removeChunk(shard: number, id: string, index: number): Promise<void> {
    await this.client().hdel(chunks(shard, id), String(index));
  }

  async dump(): Promise<string[]> {
    const keys = (await this.client().keys('*')).sort();
    const dumps = this.client().multi();
    for (const key of keys) dumps.dumpBuffer(key);
    const replies = (await dumps.exec()) as [Error | null, Buffer][];
    return keys.map((key, i) => `${key} ${(replies[i] as [null, Buffer])[1].toString('hex')}`);
  }

  private async range(shard: number, first: string, last: string): Promise<StreamEntry[]> {
    return (await this.client().callBuffer('XRANGE', log(shard), first, last)) as StreamEntry[];
  }

  /** Reconnects, because a killed server breaks its connections. */
  private client(): Redis {
    if (this.current === undefined || this.current.status === 'end') this.current = this.server.client();
    return this.current;
  }
}

/** Replaces all entries of a stream. Since Redis 7.2, XSETID cannot set the last ID to one before a deleted entry. */
export async function rewriteStream(client: Redis, key: string, entries: readonly StreamEntry[]): Promise<void> {
  const rewriting = client.multi().del(key);
  for (const [id, [, bytes]] of entries) rewriting.xadd(key, id, FIELD, bytes);
  for (const [error] of (await rewriting.exec()) ?? []) if (error !== null) throw error;
}

const log = (shard: number) => `${PREFIX}:{${shard}}:wal`;
const chunks = (shard: number, id: string) => `${PREFIX}:{${shard}}:snapshot:${id}`;
