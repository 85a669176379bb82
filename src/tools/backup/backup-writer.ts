import { rmSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Frame, Frames } from '../frame.js';
import { ToolError } from '../store-reader.js';
import { BLOCK_KINDS, type BlockKind, sealBlock, sealFileHeader } from './backup-format.js';
import type { CompletePart } from './backup-reader.js';
import { type ByteSink, fileSink } from './byte-sink.js';
import { sealFrame } from './frame-codec.js';

/*
 * A backup is a stream of frames in one compressed file. Read in this order:
 * - ../frame.ts defines the kinds of frames
 * - store-frames.ts converts a store to frames
 * - this file writes frames into a file, and backup-reader.ts reads them back
 * - follow.ts adds later entries
 * frame-codec.ts and backup-format.ts define the layout of frames, blocks and segments.
 */

const BLOCK_BYTES = 1024 * 1024;
/** Number of blocks that libuv threads compress while the next blocks are being filled. */
const COMPRESSING_MAX = 4;
const MODE = 0o600;

/** Writes frames into a file. After `endSegment` resolves, the file ends with a complete segment. */
export class BackupWriter {
  private parts: Buffer[] = [];
  private partBytes = 0;
  private readonly sealing: Promise<Buffer>[] = [];

  private constructor(
    private readonly sink: ByteSink,
    private bytes: number,
    private blocks: number,
  ) {}

  /** Creates the file `partial`, which the caller later renames to `path`. */
  static async create(path: string, partial = path, change: ChangeSink = (sink) => sink): Promise<BackupWriter> {
    return await BackupWriter.begin(change(fileSink(path, await open(partial, 'ax', MODE), 0)));
  }

  static async begin(sink: ByteSink): Promise<BackupWriter> {
    const header = sealFileHeader();
    await sink.write(header);
    return new BackupWriter(sink, header.length, 0);
  }

  /** Continues a file after its complete part. The rest of the file is cut off. */
  static async continue(path: string, { bytes, blocks }: CompletePart): Promise<BackupWriter> {
    const file = await open(path, 'a', MODE);
    await file.truncate(bytes);
    return new BackupWriter(fileSink(path, file, bytes), bytes, blocks);
  }

  get byteLength(): number {
    return this.bytes;
  }

  async add(frame: Frame): Promise<void> {
    const [header, bytes] = sealFrame(frame);
    this.parts.push(header, bytes);
    this.partBytes += header.length + bytes.length;
    if (this.partBytes >= BLOCK_BYTES) await this.seal(BLOCK_KINDS.goesOn);
  }

  /** Writes an `end` frame. Resolves when the segment is on disk. */
  async endSegment(frame: Frame): Promise<void> {
    const [header, bytes] = sealFrame(frame);
    this.parts.push(header, bytes);
    await this.seal(BLOCK_KINDS.endsSegment);
    while (this.sealing.length > 0) await this.writeOldest();
    await this.sink.sync();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.sealing);
    await this.sink.close();
  }

  private async seal(kind: BlockKind): Promise<void> {
    const block = sealBlock(Buffer.concat(this.parts), this.blocks++, kind);
    this.parts = [];
    this.partBytes = 0;
    // The block may fail before it is awaited. This handler prevents an unhandled rejection.
    block.catch(() => {});
    this.sealing.push(block);
    while (this.sealing.length >= COMPRESSING_MAX) await this.writeOldest();
  }

  private async writeOldest(): Promise<void> {
    const block = await (this.sealing.shift() as Promise<Buffer>);
    await this.sink.write(block);
    this.bytes += block.length;
  }
}

/** Wraps a sink so that bytes are transformed on their way into a file, for example encrypted. */
export type ChangeSink = (sink: ByteSink) => ByteSink;

/**
 * Writes frames up to and including the first `end` into a file that appears only when it is complete. Resolves to the
 * writer, which is already closed if `change` is set.
 */
export async function writeNewBackup(
  path: string,
  frames: Frames,
  signal: AbortSignal,
  change?: ChangeSink,
): Promise<BackupWriter> {
  const partial = `${path}.partial`;
  const writer = await create(path, partial, change);
  // Remove the file immediately: during a store outage, the process may end before the next frame arrives.
  const abandon = () => {
    try {
      rmSync(partial, { force: true });
    } catch {
      // If removal fails, the partial file stays, and the next backup reports it.
    }
  };
  signal.addEventListener('abort', abandon);
  if (signal.aborted) abandon();
  try {
    for await (const frame of frames) {
      signal.throwIfAborted();
      if (frame.type === 'end') await writer.endSegment(frame);
      else await writer.add(frame);
    }
    if (change !== undefined) await writer.close();
    await mustBeFree(path);
    await rename(partial, path);
    await syncFolder(dirname(path));
    return writer;
  } catch (error) {
    await writer.close().catch(() => {});
    // After an abort, the partial file may already belong to a new backup with the same name.
    if (signal.aborted) throw new ToolError('interrupted: nothing was saved');
    await rm(partial, { force: true });
    throw error;
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}

async function create(path: string, partial: string, change?: ChangeSink): Promise<BackupWriter> {
  await mustBeFree(path);
  try {
    return await BackupWriter.create(path, partial, change);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new ToolError(
      `${partial} exists: another backup is being written, or one was cut off; in the second case, remove the file`,
    );
  }
}

async function mustBeFree(path: string): Promise<void> {
  if (await exists(path)) throw new ToolError(`${path} already exists; --follow continues it`);
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Writes frames up to and including the `end` into a pipe. Resolves to the number of bytes written. */
export async function writeToPipe(sink: ByteSink, frames: Frames, signal: AbortSignal): Promise<number> {
  const writer = await BackupWriter.begin(sink);
  for await (const frame of frames) {
    if (signal.aborted) throw new ToolError('interrupted: the backup in the pipe is cut off');
    if (frame.type === 'end') await writer.endSegment(frame);
    else await writer.add(frame);
  }
  await writer.close();
  return writer.byteLength;
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  await folder.sync();
  await folder.close();
}
