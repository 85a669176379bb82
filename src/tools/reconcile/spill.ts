import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/message-of.js';
import { ToolError } from '../store-reader.js';

/** So many characters of a part are written together: 1,024 parts hold 16 MiB. */
const BLOCK_LENGTH = 16_384;
/** The disk may be that of a store: it is not filled up. */
const FREE_MIN_BYTES = 256 << 20;
const LOOK_BYTES = 64 << 20;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Values that wait on disk, part by part, so that memory has to hold one part at a time. The file has no name once it is
 * open, so nothing of it is left however the process ends.
 */
export class Spill<T> {
  count = 0;
  private readonly texts: string[];
  private readonly blocks: Block[][];
  private readonly file: number;
  private end = 0;
  private lookAt = LOOK_BYTES;

  /** `parts`: numbered from 0 on. Throws a `ToolError` when there can be no file in the folder. */
  constructor(
    private readonly folder: string,
    parts: number,
  ) {
    this.texts = Array.from({ length: parts }, () => '');
    this.blocks = Array.from({ length: parts }, () => []);
    const path = join(folder, `walletd-reconcile-${randomUUID()}`);
    try {
      this.file = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
    } catch (error) {
      throw new ToolError(
        `cannot make a temporary file in ${folder} (TMPDIR names another folder): ${messageOf(error)}`,
      );
    }
  }

  add(part: number, value: T): void {
    this.count++;
    const before = this.texts[part] as string;
    const text = before === '' ? JSON.stringify(value) : `${before},${JSON.stringify(value)}`;
    this.texts[part] = text;
    if (text.length >= BLOCK_LENGTH) this.write(part);
  }

  /** All values of a part, in the order in which they were added. */
  read(part: number): T[] {
    const values: T[] = [];
    for (const { at, bytes } of this.blocks[part] ?? []) {
      const block = Buffer.allocUnsafe(bytes);
      readWhole(this.file, block, at);
      for (const value of JSON.parse(`[${block.toString()}]`) as T[]) values.push(value);
    }
    for (const value of JSON.parse(`[${this.texts[part]}]`) as T[]) values.push(value);
    return values;
  }

  close(): void {
    closeSync(this.file);
  }

  private write(part: number): void {
    const block = Buffer.from(this.texts[part] as string);
    this.texts[part] = '';
    if (this.end > this.lookAt) this.lookForRoom();
    try {
      for (let done = 0; done < block.length; ) {
        done += writeSync(this.file, block, done, block.length - done, this.end + done);
      }
    } catch (error) {
      throw this.noRoom(messageOf(error));
    }
    this.blocks[part]?.push({ at: this.end, bytes: block.length });
    this.end += block.length;
  }

  private lookForRoom(): void {
    const { bavail, bsize } = statfsSync(this.folder);
    if (bavail * bsize < FREE_MIN_BYTES) throw this.noRoom('the disk is nearly full');
    this.lookAt = this.end + LOOK_BYTES;
  }

  private noRoom(why: string): ToolError {
    return new ToolError(`no room for temporary files in ${this.folder} (TMPDIR names another folder): ${why}`);
  }
}

function readWhole(file: number, block: Buffer, at: number): void {
  for (let done = 0; done < block.length; ) {
    const bytes = readSync(file, block, done, block.length - done, at + done);
    if (bytes === 0) throw new ToolError('a temporary file has lost what was written to it');
    done += bytes;
  }
}
