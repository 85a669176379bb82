import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/** A source from which a backup is read. */
export interface BackupSource {
  /** The human-readable name. */
  readonly name: string;
  /** True if the source can be opened more than once, like a file and unlike a pipe. */
  readonly isRepeatable: boolean;
  /** Resolves to the size in bytes; undefined if the size is unknown until all bytes have arrived. */
  size(): Promise<number | undefined>;
  open(): AsyncIterable<Buffer>;
}

const READ_BYTES = 256 * 1024;

/** Reads a source in pieces of arbitrary length. */
export class ByteReader {
  /** Number of bytes received, whether or not they have been read. */
  received = 0;
  private readonly pieces: Buffer[] = [];
  private waiting = 0;
  private readonly bytes: AsyncIterator<Buffer>;

  constructor(source: AsyncIterable<Buffer>) {
    this.bytes = source[Symbol.asyncIterator]();
  }

  /** Reads the next `length` bytes; undefined if fewer bytes remain. The remaining bytes can then still be read. */
  async read(length: number): Promise<Buffer | undefined> {
    while (this.waiting < length) if (!(await this.receive())) return undefined;
    return this.take(length);
  }

  /** Reads all bytes that have arrived; undefined at the end. */
  async readSome(): Promise<Buffer | undefined> {
    if (this.waiting === 0 && !(await this.receive())) return undefined;
    return this.take(this.waiting);
  }

  async close(): Promise<void> {
    await this.bytes.return?.();
  }

  private async receive(): Promise<boolean> {
    const { done, value } = await this.bytes.next();
    if (done) return false;
    this.pieces.push(value);
    this.waiting += value.length;
    this.received += value.length;
    return true;
  }

  private take(length: number): Buffer {
    this.waiting -= length;
    const taken: Buffer[] = [];
    for (let missing = length; missing > 0; ) {
      const piece = this.pieces[0] as Buffer;
      if (piece.length <= missing) {
        taken.push(piece);
        this.pieces.shift();
      } else {
        taken.push(piece.subarray(0, missing));
        this.pieces[0] = piece.subarray(missing);
      }
      missing -= Math.min(piece.length, missing);
    }
    const [first = Buffer.alloc(0)] = taken;
    return taken.length < 2 ? first : Buffer.concat(taken);
  }
}

export function fileSource(path: string): BackupSource {
  return {
    name: path,
    isRepeatable: true,
    size: async () => (await stat(path)).size,
    open: () => createReadStream(path, { highWaterMark: READ_BYTES }),
  };
}

/** A source that can be read only once, such as a pipe. */
export function pipeSource(name: string, bytes: AsyncIterable<Buffer>): BackupSource {
  return { name, isRepeatable: false, size: async () => undefined, open: () => bytes };
}
