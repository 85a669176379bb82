import { assert } from '../../base/assert.js';
import { atOnce } from '../../base/steps.js';
import type { RetryPolicy } from '../../ports/retry-policy.js';
import type { ChunkSummary, ChunkWriter } from '../../ports/snapshot-store.js';
import type { EncodedEntry } from '../../ports/wal.js';
import { CHUNK_BYTES } from '../../snapshot/snapshotter.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { StoreFormats, TargetStore } from '../copy-ports.js';
import type { RestoredShard } from './shard-restore.js';
import { SnapshotWriter } from './snapshot-writer.js';

/**
 * Writes a snapshot of one new shard. The log of the shard begins with a fence, at which the snapshot both starts and
 * ends.
 */
export class NewShard {
  private readonly writer: SnapshotWriter;
  private readonly chunks: ChunkSummary[] = [];
  private chunk: ChunkWriter;
  private players = 0;

  constructor(
    private readonly shard: number,
    /** The fence, which is already in the log. */
    private readonly fence: EncodedEntry,
    private readonly timeMs: number,
    private readonly id: string,
    private readonly formats: StoreFormats,
    target: TargetStore,
    retryPolicy: RetryPolicy,
  ) {
    this.writer = new SnapshotWriter(shard, id, fence.head.nonce, target, retryPolicy);
    this.chunk = formats.snapshotFormat.beginChunk(shard, id, 0);
  }

  async begin(): Promise<void> {
    await this.writer.begin();
  }

  /** Adds a wallet. A hibernated wallet is copied without being unpacked. */
  async add(wallet: Wallet): Promise<void> {
    assert(atOnce(this.chunk.add(wallet)), 'nobody changes a wallet meanwhile');
    this.players++;
    if (this.chunk.byteLength >= CHUNK_BYTES) await this.endChunk();
  }

  async publish(): Promise<RestoredShard> {
    await this.endChunk();
    const { shard, id, fence, timeMs, players, chunks, writer } = this;
    const { head, bytes } = fence;
    const marks = [{ lsn: head.lsn, bytes: bytes.length }];
    const manifest = { id, shard, start: head, end: head, timeMs, players, chunks, marks };
    await writer.publish(this.formats.snapshotFormat.sealManifest(manifest));
    const { lsn } = head;
    return { shard, snapshot: lsn, lsn, timeMs, entries: 1, bytes: bytes.length + writer.bytes };
  }

  private async endChunk(): Promise<void> {
    const { bytes, summary } = this.chunk.seal();
    if (summary.players === 0) return;
    this.chunks.push(summary);
    this.chunk = this.formats.snapshotFormat.beginChunk(this.shard, this.id, this.chunks.length);
    await this.writer.writeChunk(bytes);
  }
}
