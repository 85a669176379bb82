import type { RetryPolicy } from '../../ports/retry-policy.js';
import type { TargetStore } from '../copy-ports.js';
import { keepTrying } from '../source-with-retry.js';
import { ToolError } from '../store-reader.js';

export class ForeignWriterError extends ToolError {
  constructor() {
    super('another process has written to the store that is being restored: empty it and restore again');
  }
}

/** Maximum number of concurrent chunk writes. */
const CHUNKS_MAX = 8;

/** Writes one snapshot, with several chunk writes at a time. */
export class SnapshotWriter {
  /** Number of chunks received. */
  chunks = 0;
  bytes = 0;
  private writing: Promise<void>[] = [];

  constructor(
    private readonly shard: number,
    private readonly id: string,
    /** The nonce at the head of the target's log. */
    private readonly nonce: string,
    private readonly target: TargetStore,
    private readonly retryPolicy: RetryPolicy,
  ) {}

  async begin(): Promise<void> {
    await this.write('begin a snapshot', () => this.target.beginSnapshot(this.shard, this.nonce, this.id));
  }

  async writeChunk(bytes: Buffer): Promise<void> {
    const { shard, nonce, id, target } = this;
    const index = this.chunks++;
    this.bytes += bytes.length;
    const write = this.write('write a chunk', () => target.writeChunk(shard, nonce, id, index, bytes));
    // The write may fail before it is awaited. This handler prevents an unhandled rejection.
    write.catch(() => {});
    this.writing.push(write);
    if (this.writing.length >= CHUNKS_MAX) await this.written();
  }

  async publish(manifest: Buffer): Promise<void> {
    const { shard, nonce, id, target } = this;
    await this.written();
    await this.write('publish a snapshot', () => target.publishSnapshot(shard, nonce, id, manifest));
  }

  async abandon(): Promise<void> {
    const { shard, nonce, id, target } = this;
    await this.written();
    await this.write('delete a snapshot', () => target.deleteSnapshot(shard, nonce, [], id));
  }

  private async written(): Promise<void> {
    const writing = this.writing;
    this.writing = [];
    await Promise.all(writing);
  }

  private async write(what: string, run: () => Promise<boolean>): Promise<void> {
    if (!(await keepTrying(what, this.retryPolicy, run))) throw new ForeignWriterError();
  }
}
