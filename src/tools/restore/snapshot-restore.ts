import { assert } from '../../base/assert.js';
import type { Patience } from '../../shard/log/patience.js';
import type { Manifest } from '../../shard/snapshot/snapshot-store.js';
import type { StoreFormats, TargetStore } from '../copy-ports.js';
import { keepTrying } from '../patient-source.js';
import { ToolError } from '../store-reader.js';

export class ForeignWriterError extends ToolError {
  constructor() {
    super('another process has written to the store that is being restored: empty it and restore again');
  }
}

/** Chunks that are being written at the same time. */
const CHUNKS_MAX = 8;

/** Writes one snapshot into a log that has no entries yet. */
export class SnapshotRestore {
  bytes = 0;
  private chunks = 0;
  private writing: Promise<void>[] = [];

  constructor(
    readonly manifest: Manifest,
    private readonly manifestBytes: Buffer,
    /** The nonce of the head of the target's log. */
    private readonly nonce: string,
    private readonly target: TargetStore,
    private readonly formats: StoreFormats,
    private readonly patience: Patience,
  ) {}

  async begin(): Promise<void> {
    const { shard, id } = this.manifest;
    await this.write('begin a snapshot', () => this.target.beginSnapshot(shard, this.nonce, id));
  }

  /** Throws a `FormatError` when the bytes are not those that the manifest names. */
  async writeChunk(index: number, bytes: Buffer): Promise<void> {
    const { shard, id } = this.manifest;
    assert(index === this.chunks++, 'chunks come in order');
    this.formats.snapshotFormat.checkChunk(this.manifest, index, bytes);
    this.bytes += bytes.length;
    const write = this.write('write a chunk', () => this.target.writeChunk(shard, this.nonce, id, index, bytes));
    // It is awaited later, and may fail before that.
    write.catch(() => {});
    this.writing.push(write);
    if (this.writing.length >= CHUNKS_MAX) await this.written();
  }

  async publish(): Promise<void> {
    const { shard, id, chunks } = this.manifest;
    assert(this.chunks === chunks.length, 'a snapshot has all its chunks');
    await this.written();
    await this.write('publish a snapshot', () =>
      this.target.publishSnapshot(shard, this.nonce, id, this.manifestBytes),
    );
  }

  async abandon(): Promise<void> {
    const { shard, id } = this.manifest;
    await this.written();
    await this.write('delete a snapshot', () => this.target.deleteSnapshot(shard, this.nonce, [], id));
  }

  private async written(): Promise<void> {
    const writing = this.writing;
    this.writing = [];
    await Promise.all(writing);
  }

  private async write(what: string, run: () => Promise<boolean>): Promise<void> {
    if (!(await keepTrying(what, this.patience, run))) throw new ForeignWriterError();
  }
}
