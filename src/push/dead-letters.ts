import { open } from 'node:fs/promises';
import type { PushedEvent } from './sink.js';

const BYTES_MAX = 1024 ** 3;

/**
 * The file of the events that a webhook's receiver has refused, one JSON object per line. Only its owner may read it.
 */
export class DeadLetters {
  /** The end of the last write, because concurrent writes could mix their lines. */
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly bytesMax = BYTES_MAX,
  ) {}

  /** Resolves when the event is on disk. Rejects if the file cannot be written or is full. */
  async add(event: PushedEvent): Promise<void> {
    const written = this.writing.then(() => this.append(`${JSON.stringify(event)}\n`));
    this.writing = written.catch(() => {});
    await written;
  }

  private async append(line: string): Promise<void> {
    const file = await open(this.path, 'a', 0o600);
    try {
      const { size } = await file.stat();
      if (size + Buffer.byteLength(line) > this.bytesMax) {
        throw new Error(
          `${this.path} is full (${this.bytesMax} bytes): deliver its events with --replay, and remove it`,
        );
      }
      await file.appendFile(line);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
