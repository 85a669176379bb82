import type { Redis } from 'ioredis';
import { assert } from '../../base/assert.js';
import type { Lsn } from '../../ports/lsn.js';
import type { SnapshotStore, StoredSnapshot } from '../../ports/snapshot-store.js';
import { confirmed, type Durability } from './durability.js';
import type { Keys } from './keys.js';
import type { MasterRouter } from './master-router.js';
import { ROOM_FUNCTION_NAME, SNAPSHOT_FUNCTION_NAME } from './snapshot-function.js';

/**
 * Number of entries removed per call, during which Redis does nothing else: 1 ms with entries of 64 KiB. A stream node
 * is removed as a whole, and has 100 entries by default (`stream-node-max-entries`).
 */
const ENTRIES_PER_CALL = 200;
const REFUSED = 0;
const MORE = 2;

type Argument = string | number | Buffer;

const FUNCTION_OF = {
  begin: SNAPSHOT_FUNCTION_NAME,
  chunk: SNAPSHOT_FUNCTION_NAME,
  publish: SNAPSHOT_FUNCTION_NAME,
  delete: ROOM_FUNCTION_NAME,
  trim: ROOM_FUNCTION_NAME,
} as const;
type Call = readonly [call: keyof typeof FUNCTION_OF, ...args: Argument[]];

/** The snapshot that this thread has begun last, and its chunks sent so far. */
interface Written {
  readonly shard: number;
  readonly id: string;
  readonly chunks: Set<number>;
}

/** The snapshots of a store in Redis. They use the connection for reads, so that they do not delay appends. */
export class RedisSnapshots implements SnapshotStore {
  private written: Written | undefined = undefined;

  constructor(
    private readonly router: MasterRouter,
    private readonly keys: Keys,
    private readonly durability: Durability,
  ) {}

  async snapshots(shard: number): Promise<readonly StoredSnapshot[]> {
    const manifests = await this.router.onShard(shard, 'reads', (client) =>
      client.hgetallBuffer(this.keys.snapshots(shard)),
    );
    return Object.entries(manifests).map(([id, manifest]) => ({
      id,
      manifest: manifest.length === 0 ? undefined : manifest,
    }));
  }

  async readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]> {
    const indexes = Array.from({ length: count }, (_, i) => String(first + i));
    const chunks = await this.router.onShard(shard, 'reads', (client) =>
      client.hmgetBuffer(this.keys.chunks(shard, id), ...indexes),
    );
    return chunks.map((chunk) => chunk ?? undefined);
  }

  async beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean> {
    if (this.chunksOf(shard, id) === undefined) this.written = { shard, id, chunks: new Set() };
    return await this.isDone(shard, this.keys.chunks(shard, id), ['begin', nonceOf(nonce), 0, id]);
  }

  async writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean> {
    this.chunksOf(shard, id)?.add(index);
    const args: Call = ['chunk', nonceOf(nonce), 0, id, index, bytes];
    return await this.isDone(shard, this.keys.chunks(shard, id), args);
  }

  async publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean> {
    assert(manifest.length > 0, 'an empty manifest is that of an unfinished snapshot');
    const chunks = this.chunksOf(shard, id)?.size ?? 0;
    const args: Call = ['publish', nonceOf(nonce), 0, id, manifest, chunks];
    return await this.isDurable(shard, this.keys.chunks(shard, id), args);
  }

  async deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean> {
    const args: Call = ['delete', nonceOf(nonce), ...argsOf(kept), id];
    return await this.isDurable(shard, this.keys.chunks(shard, id), args);
  }

  async trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean> {
    const args: Call = ['trim', nonceOf(nonce), ...argsOf(kept), before.epoch, before.sequence, ENTRIES_PER_CALL];
    for (;;) {
      const reply = await this.durableReply(shard, this.keys.log(shard), args);
      if (reply !== MORE) return reply !== REFUSED;
    }
  }

  private chunksOf(shard: number, id: string): Set<number> | undefined {
    const { written } = this;
    return written?.shard === shard && written.id === id ? written.chunks : undefined;
  }

  private async isDone(shard: number, key: string, args: Call): Promise<boolean> {
    return (await this.router.onShard(shard, 'reads', (client) => this.call(client, shard, key, args))) !== REFUSED;
  }

  private async isDurable(shard: number, key: string, args: Call): Promise<boolean> {
    return (await this.durableReply(shard, key, args)) !== REFUSED;
  }

  private durableReply(shard: number, key: string, args: Call): Promise<number> {
    return this.router.onShard(shard, 'reads', (client) =>
      confirmed(client, this.durability, this.call(client, shard, key, args)),
    );
  }

  private call(client: Redis, shard: number, key: string, args: Call): Promise<number> {
    const keys = [this.keys.head(shard), this.keys.snapshots(shard), key];
    return client.call('FCALL', FUNCTION_OF[args[0]], keys.length, ...keys, ...args) as Promise<number>;
  }
}

function nonceOf(nonce: string): Buffer {
  return Buffer.from(nonce, 'hex');
}

function argsOf(kept: readonly StoredSnapshot[]): Argument[] {
  return [kept.length, ...kept.flatMap(({ id, manifest }) => [id, manifest ?? ''])];
}
