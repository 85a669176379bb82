import { crc32 } from 'node:zlib';
import type { OnProgress } from '../../base/progress.js';
import type { Coverage } from '../coverage.js';
import type { Frame } from '../frame.js';
import { ToolError } from '../store-reader.js';
import {
  BLOCK_HEADER_LENGTH,
  BLOCK_KINDS,
  type BlockHeader,
  checkFileHeader,
  FILE_HEADER_LENGTH,
  openBlock,
  tryBlockHeader,
} from './backup-format.js';
import { type BackupSource, ByteReader, fileSource } from './backup-source.js';

/** The part of a backup that ends with its last complete segment. */
export interface CompletePart {
  readonly bytes: number;
  readonly blocks: number;
  readonly segments: number;
  /** Number of bytes after the complete part, which belong to a segment without an end. */
  readonly cutBytes: number;
  /** The store's meta record. */
  readonly meta: Buffer;
  readonly coverage: Coverage;
}

export interface Block {
  readonly header: BlockHeader;
  readonly data: Buffer;
  /** Byte offsets in the file at which the block begins and ends. */
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the complete file and verifies every byte. Throws a `ToolError` that names the position of the first damage. An
 * incomplete last segment does not count as damage.
 */
export async function checkBackup(
  from: string | BackupSource,
  onProgress: OnProgress = () => {},
): Promise<CompletePart> {
  const source = sourceOf(from);
  const size = await source.size();
  const reader = await BlockReader.open(source);
  try {
    const whole = new CompleteSoFar();
    for (;;) {
      const block = await reader.next(whole.bytes);
      if (block === undefined) break;
      if (size !== undefined) onProgress(block.end, size);
      if (whole.isFirst) whole.meta = (await reader.openBlock(block))[0];
      if (whole.take(block)) whole.last = block;
    }
    if (whole.last !== undefined) whole.end = (await reader.openBlock(whole.last)).at(-1);
    return whole.part(source.name, reader.received);
  } finally {
    await reader.close();
  }
}

/**
 * The frames in the complete part of a backup file that has already been checked. Throws a `ToolError` if the file has
 * become shorter since the check.
 */
export async function* framesOfFile(
  from: string | BackupSource,
  { bytes }: CompletePart,
  onProgress: OnProgress = () => {},
): AsyncGenerator<Frame, void> {
  const source = sourceOf(from);
  yield* framesOnce(source, {
    onProgress: (done) => onProgress(done, bytes),
    onEnd: (part) => {
      if (part.bytes >= bytes) return;
      throw new ToolError(`${source.name} became shorter while it was read`);
    },
    untilByte: bytes,
  });
}

export interface ReadOnceOptions {
  readonly onProgress?: (bytes: number) => void;
  /** Called after the consumer has taken the last frame. May throw to end the stream with an error. */
  readonly onEnd: (whole: CompletePart) => void;
  /** Offset at which reading stops, because a follower may still be appending beyond it. */
  readonly untilByte?: number;
}

/**
 * The frames of complete segments from a source that can be read only once. The first segment is passed on while it
 * arrives. If its end is missing, the stream ends with a `ToolError`, and the frames already passed on must be
 * discarded. Each later segment (some megabytes) is passed on only when it is complete. Throws a `ToolError` on damage,
 * as `checkBackup` does.
 */
export async function* framesOnce(source: BackupSource, options: ReadOnceOptions): AsyncGenerator<Frame, void> {
  const { onProgress = () => {}, onEnd, untilByte = Number.POSITIVE_INFINITY } = options;
  const reader = await BlockReader.open(source);
  const whole = new CompleteSoFar();
  const next = async () => {
    if (reader.position >= untilByte) return undefined;
    const block = await reader.next(whole.bytes);
    return block && { block, frames: await reader.openBlock(block) };
  };
  let coming = next();
  let held: Frame[] = [];
  try {
    for (;;) {
      const read = await coming;
      if (read === undefined) break;
      const { block, frames } = read;
      const isInFirst = whole.segments === 0;
      if (whole.isFirst) whole.meta = frames[0];
      const isEnd = whole.take(block);
      if (isEnd) whole.end = frames.at(-1);
      // Read and inflate the next block while the consumer processes this one.
      coming = next();
      coming.catch(() => {});
      if (isInFirst || isEnd) {
        yield* held;
        yield* frames;
        held = [];
      } else {
        held.push(...frames);
      }
      onProgress(block.end);
    }
    onEnd(whole.part(source.name, Math.min(reader.received, untilByte)));
  } finally {
    await Promise.allSettled([coming]);
    await reader.close();
  }
}

/** The blocks in the complete part of a backup file that has already been checked, with their frames. */
export async function* blocksOf(
  source: BackupSource,
  { bytes }: CompletePart,
): AsyncGenerator<{ readonly block: Block; readonly frames: Frame[] }, void> {
  const reader = await BlockReader.open(source);
  try {
    while (reader.position < bytes) {
      const block = await reader.next(bytes);
      if (block === undefined) throw new ToolError(`${source.name} became shorter while it was read`);
      yield { block, frames: await reader.openBlock(block) };
    }
  } finally {
    await reader.close();
  }
}

/** Tracks the blocks up to the end of the last complete segment. */
class CompleteSoFar {
  bytes = FILE_HEADER_LENGTH;
  segments = 0;
  isFirst = true;
  meta: Frame | undefined = undefined;
  /** The block that ends the last complete segment, and the last frame of that block. */
  last: Block | undefined = undefined;
  end: Frame | undefined = undefined;
  private blocks = 0;

  /** Adds a block. Returns true if the block ends a segment. */
  take({ header, end }: Block): boolean {
    this.isFirst = false;
    if (header.kind !== BLOCK_KINDS.endsSegment) return false;
    this.bytes = end;
    this.blocks = header.index + 1;
    this.segments++;
    return true;
  }

  part(name: string, received: number): CompletePart {
    const { bytes, blocks, segments, meta, end } = this;
    if (segments === 0) throw new ToolError(`${name} has no complete segment: the first one was cut off`);
    if (meta?.type !== 'meta' || end?.type !== 'end') throw new ToolError(`${name} lacks its meta record or its end`);
    return { bytes, blocks, segments, cutBytes: received - bytes, meta: meta.bytes, coverage: end.coverage };
  }
}

function sourceOf(from: string | BackupSource): BackupSource {
  return typeof from === 'string' ? fileSource(from) : from;
}

const ZEROS = Buffer.alloc(64 * 1024);
/** A block that ends with this many zeros was cut off, because compressed data never ends like that. */
const ZERO_TAIL_BYTES = 16;

class BlockReader {
  position = FILE_HEADER_LENGTH;
  private index = 0;

  private constructor(
    private readonly name: string,
    private readonly bytes: ByteReader,
  ) {}

  static async open(source: BackupSource): Promise<BlockReader> {
    const bytes = new ByteReader(source.open());
    try {
      checkFileHeader((await bytes.read(FILE_HEADER_LENGTH)) ?? Buffer.alloc(0));
    } catch (error) {
      await bytes.close();
      if (!(error instanceof ToolError)) throw error;
      throw new ToolError(`${source.name} ${error.message}`);
    }
    return new BlockReader(source.name, bytes);
  }

  /** Number of bytes received so far; at the end, the size of the file. */
  get received(): number {
    return this.bytes.received;
  }

  /**
   * Reads the next block; undefined if the file, apart from zeros at its end, stops in the middle of the block. `whole`
   * is the byte offset at which the complete segments end.
   */
  async next(whole: number): Promise<Block | undefined> {
    const start = this.position;
    const bytes = await this.bytes.read(BLOCK_HEADER_LENGTH);
    if (bytes === undefined) return undefined;
    const header = tryBlockHeader(bytes, this.index);
    if (header === undefined) {
      if (await this.hasOnlyZerosLeft()) return undefined;
      throw this.damage(start, whole);
    }
    const data = await this.bytes.read(header.length);
    if (data === undefined) return undefined;
    if (crc32(data) !== header.dataChecksum) {
      const tail = data.subarray(-ZERO_TAIL_BYTES);
      const isCutOff = tail.equals(ZEROS.subarray(0, tail.length));
      if (isCutOff && (await this.hasOnlyZerosLeft())) return undefined;
      throw this.damage(start + BLOCK_HEADER_LENGTH, whole);
    }
    this.index++;
    this.position = start + BLOCK_HEADER_LENGTH + header.length;
    return { header, data, start, end: this.position };
  }

  async openBlock({ header, data, start }: Block): Promise<Frame[]> {
    try {
      return await openBlock(header, data);
    } catch (error) {
      throw new ToolError(`${this.name} cannot be read at byte ${start}: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {
    await this.bytes.close();
  }

  private damage(place: number, whole: number): ToolError {
    const rest =
      whole === FILE_HEADER_LENGTH
        ? 'nothing before that position is complete'
        : `the first ${whole} bytes are complete`;
    return new ToolError(`${this.name} is damaged at byte ${place}: wrong checksum; ${rest}`);
  }

  /**
   * True if only zeros are left. After a power failure, there are zeros where the file was already extended but its
   * content was not yet written.
   */
  private async hasOnlyZerosLeft(): Promise<boolean> {
    for (;;) {
      const some = await this.bytes.readSome();
      if (some === undefined) return true;
      for (let at = 0; at < some.length; at += ZEROS.length) {
        const piece = some.subarray(at, at + ZEROS.length);
        if (!piece.equals(ZEROS.subarray(0, piece.length))) return false;
      }
    }
  }
}
