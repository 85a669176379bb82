import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/message-of.js';
import { ToolError } from '../store-reader.js';

/** Number of bytes of a part to write at a time. With 1,024 parts, buffers take 16 MiB. */
const BLOCK_BYTES = 16_384;
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const UTF8_BYTES_MAX = 3;
const COMMA = 0x2c;
/** Free space to leave on the disk, which may also hold a store. */
const FREE_MIN_BYTES = 256 << 20;
const LOOK_BYTES = 64 << 20;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

/** Values of one part. The unwritten ones are in `bytes`, up to `length`. */
interface Part {
  bytes: Buffer;
  length: number;
  readonly blocks: Block[];
}

const NOTHING = Buffer.alloc(0);

/**
 * Stores values on disk in parts, so that memory holds one part at a time. The file is unlinked immediately after it is
 * opened, so that nothing is left behind, no matter how the process ends.
 */
export class Spill<T> {
  count = 0;
  private readonly parts: Part[];
  private readonly file: number;
  private end = 0;
  private lookAt = LOOK_BYTES;

  /** Parts are numbered from 0 to `parts` - 1. Throws a `ToolError` if no file can be created in the folder. */
  constructor(
    private readonly folder: string,
    parts: number,
  ) {
    this.parts = Array.from({ length: parts }, () => ({ bytes: NOTHING, length: 0, blocks: [] }));
    const path = join(folder, `walletd-reconcile-${randomUUID()}`);
    try {
      this.file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
    } catch (error) {
      throw new ToolError(
        `cannot create a temporary file in ${folder} (set TMPDIR to use another folder): ${messageOf(error)}`,
      );
    }
  }

  add(part: number, value: T): void {
    this.count++;
    const to = this.parts[part] as Part;
    const text = JSON.stringify(value);
    const room = 1 + text.length * UTF8_BYTES_MAX;
    if (to.length + room > BLOCK_BYTES) this.flush(to);
    if (room > BLOCK_BYTES) {
      to.blocks.push(this.write(Buffer.from(text)));
      return;
    }
    if (to.bytes === NOTHING) to.bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    if (to.length > 0) to.bytes[to.length++] = COMMA;
    to.length += to.bytes.write(text, to.length);
  }

  /** Reads all values of a part, in the order in which they were added. */
  read(part: number): T[] {
    const { bytes, length, blocks } = this.parts[part] as Part;
    const written = blocks.map((block) => {
      const read = Buffer.allocUnsafe(block.bytes);
      readWhole(this.file, read, block.at);
      return valuesOf<T>(read);
    });
    return [...written, valuesOf<T>(bytes.subarray(0, length))].flat();
  }

  close(): void {
    closeSync(this.file);
  }

  private flush(part: Part): void {
    if (part.length > 0) part.blocks.push(this.write(part.bytes.subarray(0, part.length)));
    part.length = 0;
  }

  private write(bytes: Buffer): Block {
    if (this.end > this.lookAt) this.lookForRoom();
    const at = this.end;
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.file, bytes, done, bytes.length - done, at + done);
      }
    } catch (error) {
      throw this.noRoom(messageOf(error));
    }
    this.end += bytes.length;
    return { at, bytes: bytes.length };
  }

  private lookForRoom(): void {
    const { bavail, bsize } = statfsSync(this.folder);
    if (bavail * bsize < FREE_MIN_BYTES) throw this.noRoom('the disk is nearly full');
    this.lookAt = this.end + LOOK_BYTES;
  }

  private noRoom(why: string): ToolError {
    return new ToolError(`no space for temporary files in ${this.folder} (set TMPDIR to use another folder): ${why}`);
  }
}

function valuesOf<T>(bytes: Buffer): T[] {
  return JSON.parse(`[${bytes.toString()}]`) as T[];
}

function readWhole(file: number, block: Buffer, at: number): void {
  for (let done = 0; done < block.length; ) {
    const bytes = readSync(file, block, done, block.length - done, at + done);
    if (bytes === 0) throw new ToolError('a temporary file has lost data');
    done += bytes;
  }
}
