import { type FileHandle, open } from 'node:fs/promises';
import type { PushedEvent } from './sink.js';

const BYTES_MAX = 1024 ** 3;
const NEWLINE = 0x0a;

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

  /**
   * Resolves when the event is on disk. Rejects if the file cannot be written or is full, and leaves no part of the event
   * in it.
   */
  async add(event: PushedEvent): Promise<void> {
    const written = this.writing.then(() => this.append(`${JSON.stringify(event)}\n`));
    this.writing = written.catch(() => {});
    await written;
  }

  private async append(letter: string): Promise<void> {
    const file = await open(this.path, 'a+', 0o600);
    try {
      const { size } = await file.stat();
      // A crash in an append leaves a part of a line. End it, so that it does not spoil the new one.
      const line = (await endsInNewline(file, size)) ? letter : `\n${letter}`;
      if (size + Buffer.byteLength(line) > this.bytesMax) {
        throw new Error(
          `${this.path} is full (${this.bytesMax} bytes): deliver its events with --replay, and remove it`,
        );
      }
      try {
        await file.appendFile(line);
        await file.sync();
      } catch (error) {
        // Only tidies up: the next append ends a part of a line that stays.
        await file.truncate(size).catch(() => {});
        throw error;
      }
    } finally {
      await file.close();
    }
  }
}

/** True for an empty file, too. */
async function endsInNewline(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === NEWLINE;
}
