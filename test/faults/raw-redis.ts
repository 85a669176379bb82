import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import { formatLsn, type Lsn } from '../../src/shard/log/lsn.js';
import type { Head } from '../../src/shard/log/wal.js';
import { decodeHead, encodeHead } from '../../src/store/format/entry-codec.js';
import { decodeMeta, type StoreMeta } from '../../src/store/meta.js';
import type { RedisServer } from '../support/redis-server.js';
import type { RawStore } from './raw-store.js';

const PREFIX = 'walletd';

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

  /** A stream accepts entries only at its end, so the later entries are removed and appended again. */
  async putEntry(shard: number, lsn: Lsn, bytes: Buffer): Promise<void> {
    const behind = (await this.client().callBuffer('XRANGE', log(shard), `(${formatLsn(lsn)}`, '+')) as StreamEntry[];
    await this.removeEntry(shard, lsn);
    for (const [id] of behind) await this.client().call('XDEL', log(shard), id);
    await this.client().call('XSETID', log(shard), `${lsn.epoch}-${lsn.sequence - 1}`);
    await this.client().call('XADD', log(shard), formatLsn(lsn), 'e', bytes);
    for (const [id, [, entry]] of behind) await this.client().call('XADD', log(shard), id, 'e', entry);
  }

  async removeEntry(shard: number, lsn: Lsn): Promise<void> {
    await this.client().call('XDEL', log(shard), formatLsn(lsn));
  }

  async putHead(shard: number, head: Head): Promise<void> {
    await this.client().set(`${PREFIX}:{${shard}}:head`, encodeHead(head));
    const newest = (await this.client().callBuffer('XREVRANGE', log(shard), '+', '-', 'COUNT', 1)) as StreamEntry[];
    if (newest[0] !== undefined) await this.client().call('XSETID', log(shard), newest[0][0]);
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

  /** Reconnects, because a killed server breaks its connections. */
  private client(): Redis {
    if (this.current === undefined || this.current.status === 'end') this.current = this.server.client();
    return this.current;
  }
}

const log = (shard: number) => `${PREFIX}:{${shard}}:wal`;
const chunks = (shard: number, id: string) => `${PREFIX}:{${shard}}:snapshot:${id}`;
