import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Coverage } from '../coverage.js';
import type { Frame } from '../frame.js';
import type { OnProgress } from '../progress.js';
import { ToolError } from '../store-reader.js';
import {
  BLOCK_HEADER_LENGTH,
  BLOCK_KINDS,
  type BlockHeader,
  checkFileHeader,
  FILE_HEADER_LENGTH,
  maybeBlockHeader,
  openBlock,
} from './backup-format.js';

/** The part of a backup file up to the end of its last whole segment. */
export interface WholePart {
  readonly bytes: number;
  readonly blocks: number;
  readonly segments: number;
  /** Bytes after it, of a segment whose end is missing. */
  readonly cutBytes: number;
  /** The meta record of the store. */
  readonly meta: Buffer;
  readonly coverage: Coverage;
}

interface Block {
  readonly header: BlockHeader;
  readonly data: Buffer;
  /** Where it begins and ends in the file. */
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the whole file and proves every byte of it. Throws a `ToolError` that names the place of the first damage. A
 * segment that was cut off is not damage.
 */
export async function checkBackup(path: string, onProgress: OnProgress = () => {}): Promise<WholePart> {
  const reader = await BlockReader.open(path);
  try {
    let [whole, blocks, segments] = [FILE_HEADER_LENGTH, 0, 0];
    let first: Block | undefined;
    let last: Block | undefined;
    for (;;) {
      const block = await reader.next(whole);
      if (block === undefined) break;
      first ??= block;
      onProgress(block.end, reader.size);
      if (block.header.kind !== BLOCK_KINDS.endsSegment) continue;
      [whole, blocks, last] = [block.end, block.header.index + 1, block];
      segments++;
    }
    if (first === undefined || last === undefined) {
      throw new ToolError(`${path} has no whole segment: the first one was cut off`);
    }
    const meta = (await reader.open(first))[0];
    const end = (await reader.open(last)).at(-1);
    if (meta?.type !== 'meta' || end?.type !== 'end') throw new ToolError(`${path} lacks its meta record or its end`);
    const cutBytes = reader.size - whole;
    return { bytes: whole, blocks, segments, cutBytes, meta: meta.bytes, coverage: end.coverage };
  } finally {
    await reader.close();
  }
}

/** The frames in the whole part of a backup file. */
export async function* framesOfFile(
  path: string,
  whole: WholePart,
  onProgress: OnProgress = () => {},
): AsyncGenerator<Frame, void> {
  const reader = await BlockReader.open(path);
  let coming = reader.maybeFrames(whole.bytes);
  try {
    for (;;) {
      const frames = await coming;
      if (frames === undefined) return;
      const { position } = reader;
      // The next block is read and inflated while this one is written somewhere.
      coming = reader.maybeFrames(whole.bytes);
      coming.catch(() => {});
      yield* frames;
      onProgress(position, whole.bytes);
    }
  } finally {
    await Promise.allSettled([coming]);
    await reader.close();
  }
}

const ZEROS = Buffer.alloc(64 * 1024);
/** So many zeros at the end of a block do not come from its content. */
const ZERO_TAIL_BYTES = 16;

class BlockReader {
  position = FILE_HEADER_LENGTH;
  private index = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    readonly size: number,
  ) {}

  static async open(path: string): Promise<BlockReader> {
    const file = await open(path);
    try {
      const reader = new BlockReader(path, file, (await file.stat()).size);
      const header = await reader.read(0, FILE_HEADER_LENGTH);
      try {
        checkFileHeader(header ?? Buffer.alloc(0));
      } catch (error) {
        throw new ToolError(`${path} ${(error as Error).message}`);
      }
      return reader;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Undefined when the file, without zeros at its end, stops before the block does. Whole segments end at `whole`. */
  async next(whole: number): Promise<Block | undefined> {
    const start = this.position;
    const bytes = await this.read(start, BLOCK_HEADER_LENGTH);
    if (bytes === undefined) return undefined;
    const header = maybeBlockHeader(bytes, this.index);
    if (header === undefined) {
      if (await this.hasOnlyZerosFrom(start + BLOCK_HEADER_LENGTH)) return undefined;
      throw this.damage(start, whole);
    }
    const data = await this.read(start + BLOCK_HEADER_LENGTH, header.length);
    if (data === undefined) return undefined;
    if (crc32(data) !== header.dataChecksum) {
      const tail = data.subarray(-ZERO_TAIL_BYTES);
      const isCutOff = tail.equals(ZEROS.subarray(0, tail.length));
      if (isCutOff && (await this.hasOnlyZerosFrom(start + BLOCK_HEADER_LENGTH + header.length))) return undefined;
      throw this.damage(start + BLOCK_HEADER_LENGTH, whole);
    }
    this.index++;
    this.position = start + BLOCK_HEADER_LENGTH + header.length;
    return { header, data, start, end: this.position };
  }

  /** The frames of the next block; undefined at the end of the whole part. */
  async maybeFrames(whole: number): Promise<Frame[] | undefined> {
    if (this.position >= whole) return undefined;
    const block = await this.next(whole);
    if (block === undefined) throw new ToolError(`${this.path} has become shorter while it was read`);
    return await this.open(block);
  }

  async open({ header, data, start }: Block): Promise<Frame[]> {
    try {
      return await openBlock(header, data);
    } catch (error) {
      throw new ToolError(`${this.path} cannot be read at byte ${start}: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private damage(place: number, whole: number): ToolError {
    const rest = whole === FILE_HEADER_LENGTH ? 'nothing before that is whole' : `the first ${whole} bytes are whole`;
    return new ToolError(`${this.path} is damaged at byte ${place}: wrong checksum; ${rest}`);
  }

  /** A power failure leaves zeros: the file had been extended already, and its content had not been written. */
  private async hasOnlyZerosFrom(position: number): Promise<boolean> {
    for (let at = position; at < this.size; at += ZEROS.length) {
      const length = Math.min(ZEROS.length, this.size - at);
      if (!(await this.read(at, length))?.equals(ZEROS.subarray(0, length))) return false;
    }
    return true;
  }

  /** Undefined when the file has fewer bytes. */
  private async read(position: number, length: number): Promise<Buffer | undefined> {
    if (position + length > this.size) return undefined;
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await this.file.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) return undefined;
      done += bytesRead;
    }
    return bytes;
  }
}
