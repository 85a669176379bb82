import { type Database, open, type RootDatabase } from 'lmdb';
import { LSN_ZERO, type Lsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import { decodeHead, encodeHead } from '../../src/store/format/entry-codec.js';
import { chunkKey, entryKey, headKey, snapshotIdOf, snapshotKey } from '../../src/store/lmdb/keys.js';
import { decodeMeta, type StoreMeta } from '../../src/store/meta.js';
import type { RawStore } from './raw-store.js';

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;
const MAP_BYTES = 64 * 1024 ** 3;
const NAMES = ['meta', 'log', 'heads', 'snapshots', 'chunks'] as const;

type Bytes = Database<Buffer, Buffer>;

/** Handle on an existing LMDB store, independent of the process that serves from it. */
export class RawLmdb implements RawStore {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly databases: Record<(typeof NAMES)[number], Bytes>;

  constructor(private readonly folder: string) {
    this.root = open<Buffer, Buffer>({ path: folder, noSubdir: false, mapSize: MAP_BYTES, maxDbs: 8, ...BINARY });
    const database = (name: string): Bytes => this.root.openDB({ name, useVersions: name === 'heads', ...BINARY });
    this.databases = Object.fromEntries(NAMES.map((name) => [name, database(name)])) as typeof this.databases;
  }

  get url(): string {
    return `lmdb:${this.folder}`;
  }

  async meta(): Promise<StoreMeta> {
    return decodeMeta(this.now('meta').get(Buffer.from('meta')) as Buffer);
  }

  async head(shard: number): Promise<Head> {
    return decodeHead(this.now('heads').get(headKey(shard)) as Buffer);
  }

  async entries(shard: number, after: Lsn, limit: number): Promise<Buffer[]> {
    const start = entryKey(shard, { epoch: after.epoch, sequence: after.sequence + 1 });
    const range = { start, end: entryKey(shard + 1, LSN_ZERO), limit };
    return Array.from(this.now('log').getRange(range), ({ value }) => Buffer.from(value));
  }

  async putEntry(shard: number, lsn: Lsn, bytes: Buffer): Promise<void> {
    await this.databases.log.put(entryKey(shard, lsn), bytes);
  }

  async removeEntry(shard: number, lsn: Lsn): Promise<void> {
    await this.databases.log.remove(entryKey(shard, lsn));
  }

  async putHead(shard: number, head: Head): Promise<void> {
    const version = (head.lsn.sequence % 2 ** 20) * 2 ** 32 + head.checksum + 1;
    await this.databases.heads.put(headKey(shard), encodeHead(head), version);
  }

  async removeHead(shard: number): Promise<void> {
    await this.databases.heads.remove(headKey(shard));
  }

  async manifests(shard: number): Promise<Map<string, Buffer>> {
    const first = '0'.repeat(16);
    const range = { start: snapshotKey(shard, first), end: snapshotKey(shard + 1, first) };
    const found = this.now('snapshots').getRange(range);
    return new Map(Array.from(found, ({ key, value }) => [snapshotIdOf(key), Buffer.from(value)]));
  }

  async putManifest(shard: number, id: string, bytes: Buffer): Promise<void> {
    await this.databases.snapshots.put(snapshotKey(shard, id), bytes);
  }

  async chunk(shard: number, id: string, index: number): Promise<Buffer | undefined> {
    const found = this.now('chunks').get(chunkKey(shard, id, index));
    return found === undefined ? undefined : Buffer.from(found);
  }

  async putChunk(shard: number, id: string, index: number, bytes: Buffer): Promise<void> {
    await this.databases.chunks.put(chunkKey(shard, id, index), bytes);
  }

  async removeChunk(shard: number, id: string, index: number): Promise<void> {
    await this.databases.chunks.remove(chunkKey(shard, id, index));
  }

  async dump(): Promise<string[]> {
    return NAMES.flatMap((name) =>
      Array.from(this.now(name).getRange({}), ({ key, value }) => {
        return `${name} ${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`;
      }),
    );
  }

  async close(): Promise<void> {
    await this.root.close();
  }

  /** The current state of a database, rather than its state when this event-loop turn began. */
  private now(name: (typeof NAMES)[number]): Bytes {
    this.databases[name].resetReadTxn();
    return this.databases[name];
  }
}
