import { assert } from '../../base/assert.js';
import type { RetryPolicy } from '../../ports/retry-policy.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import type { StoreFormats, TargetStore } from '../copy-ports.js';
import { SnapshotWriter } from './snapshot-writer.js';

/** Copies one snapshot unchanged into a log without entries. */
export class SnapshotRestore {
  private readonly writer: SnapshotWriter;

  constructor(
    readonly manifest: Manifest,
    private readonly manifestBytes: Buffer,
    /** The nonce at the head of the target's log. */
    nonce: string,
    target: TargetStore,
    private readonly formats: StoreFormats,
    retryPolicy: RetryPolicy,
  ) {
    this.writer = new SnapshotWriter(manifest.shard, manifest.id, nonce, target, retryPolicy);
  }

  get bytes(): number {
    return this.writer.bytes;
  }

  async begin(): Promise<void> {
    await this.writer.begin();
  }

  /** Throws a `FormatError` if the bytes do not match the manifest. */
  async writeChunk(index: number, bytes: Buffer): Promise<void> {
    assert(index === this.writer.chunks, 'chunks come in order');
    this.formats.snapshotFormat.checkChunk(this.manifest, index, bytes);
    await this.writer.writeChunk(bytes);
  }

  async publish(): Promise<void> {
    assert(this.writer.chunks === this.manifest.chunks.length, 'a snapshot has all its chunks');
    await this.writer.publish(this.manifestBytes);
  }

  async abandon(): Promise<void> {
    await this.writer.abandon();
  }
}
