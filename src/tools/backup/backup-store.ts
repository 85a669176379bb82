import { type FileHandle, open } from 'node:fs/promises';
import { must } from '../../base/assert.js';
import type { OnProgress } from '../../base/progress.js';
import type { Archive, ArchiveRecord } from '../../ports/archive.js';
import { compareLsn, type Lsn } from '../../ports/lsn.js';
import type { SnapshotStore } from '../../ports/snapshot-store.js';
import type { Head, Wal } from '../../ports/wal.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { OpenFormats, StoreFormats } from '../copy-ports.js';
import type { ShardCoverage } from '../coverage.js';
import type { Frame } from '../frame.js';
import { ToolError } from '../store-reader.js';
import { openBlock } from './backup-format.js';
import { type Block, blocksOf, type CompletePart, checkBackup } from './backup-reader.js';
import { fileSource } from './backup-source.js';

/** Number of inflated blocks to cache. Reads are mostly sequential, and a block holds a megabyte. */
const BLOCKS_KEPT = 8;

/** The last entry of a shard within a block. */
interface BlockEntries {
  readonly block: number;
  readonly last: Lsn;
}

/** Days of a shard's archived rounds within a block. */
interface BlockDays {
  readonly block: number;
  readonly days: ReadonlySet<number>;
}

interface ShardIndex {
  manifest: Buffer | undefined;
  /** Blocks that hold the chunks, by chunk index. */
  chunks: number[];
  /** In log order. */
  readonly entries: BlockEntries[];
  readonly archived: BlockDays[];
}

/**
 * Presents a backup file as a read-only store. An index maps each snapshot, chunk and entry to its block. Blocks are
 * inflated on demand.
 */
export class BackupStore {
  readonly wal: Pick<Wal, 'head' | 'read'> = {
    head: async (shard) => this.headOf(shard),
    read: (shard, after, limit) => this.entries(shard, after, limit),
  };
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'> = {
    snapshots: async (shard) => {
      const { manifest } = this.shard(shard);
      return manifest === undefined
        ? []
        : [{ id: this.formats.snapshotFormat.openManifest(manifest).id, manifest: manifest }];
    },
    readChunks: (shard, _id, first, count) => this.chunks(shard, first, count),
  };
  readonly archive: Pick<Archive, 'days' | 'all' | 'find' | 'mark' | 'missingDays'> = {
    days: async () => {
      const days = this.shards.flatMap(({ archived }) => archived.flatMap(({ days }) => [...days]));
      return [...new Set(days)].sort((a, b) => a - b);
    },
    all: (shard, day) => this.archived(shard, day),
    mark: async (shard) => markOf(must(this.whole.coverage.shards[shard], 'an end tells of all shards')),
    missingDays: async () => [],
    find: async () => {
      throw new ToolError(`${this.path} is a file, in which rounds cannot be looked up`);
    },
  };
  private readonly blocks: Omit<Block, 'data'>[] = [];
  private readonly shards: readonly ShardIndex[];
  /** Inflated blocks, least recently used first. */
  private readonly inflated = new Map<number, readonly Frame[]>();

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
    readonly whole: CompletePart,
    private readonly formats: StoreFormats,
  ) {
    this.shards = Array.from({ length: formats.shards }, () => ({
      manifest: undefined,
      chunks: [],
      entries: [],
      archived: [],
    }));
  }

  /** Verifies the file, then reads it a second time to build the index. Throws a `ToolError` if the file is damaged. */
  static async open(path: string, openFormats: OpenFormats, onProgress: OnProgress = () => {}): Promise<BackupStore> {
    const whole = await checkBackup(path, (done, total) => onProgress(done, total * 2));
    const store = new BackupStore(path, await open(path), whole, openFormats(whole.meta));
    try {
      for await (const { block, frames } of blocksOf(fileSource(path), whole)) {
        store.note(block, frames);
        onProgress(whole.bytes + block.end, whole.bytes * 2);
      }
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private note({ header, start, end }: Block, frames: readonly Frame[]): void {
    const block = this.blocks.length;
    this.blocks.push({ header, start, end });
    for (const [shard, days] of archivedDays(frames)) this.shard(shard).archived.push({ block, days });
    for (const frame of frames) {
      if (!('shard' in frame)) continue;
      const shard = this.shard(frame.shard);
      if (frame.type === 'entry') this.noteEntry(shard, block, frame.bytes);
      else if (frame.type === 'chunk') shard.chunks.push(block);
      else {
        shard.manifest = frame.type === 'snapshot-begun' ? frame.manifest : undefined;
        shard.chunks = [];
      }
    }
  }

  private noteEntry({ entries }: ShardIndex, block: number, bytes: Buffer): void {
    const last = this.formats.format.tryLsn(bytes);
    if (last === undefined) return;
    if (entries.at(-1)?.block === block) entries.pop();
    entries.push({ block, last });
  }

  private headOf(shard: number): Head {
    return must(this.whole.coverage.shards[shard], 'an end tells of all shards').head;
  }

  private async entries(shard: number, after: Lsn, limit: number): Promise<Buffer[]> {
    const found: Buffer[] = [];
    const { entries } = this.shard(shard);
    for (let i = firstAfter(entries, after); i < entries.length && found.length < limit; i++) {
      for (const frame of await this.inflate((entries[i] as BlockEntries).block)) {
        if (frame.type !== 'entry' || frame.shard !== shard || found.length === limit) continue;
        const lsn = this.formats.format.tryLsn(frame.bytes);
        if (lsn !== undefined && compareLsn(lsn, after) > 0) found.push(frame.bytes);
      }
    }
    return found;
  }

  private async chunks(shard: number, first: number, count: number): Promise<(Buffer | undefined)[]> {
    const { chunks } = this.shard(shard);
    const found: (Buffer | undefined)[] = [];
    for (let index = first; index < first + count; index++) {
      const block = chunks[index];
      const frames = block === undefined ? [] : await this.inflate(block);
      // Use the last match, because earlier ones belong to an abandoned snapshot.
      const isIt = (frame: Frame) => frame.type === 'chunk' && frame.shard === shard && frame.index === index;
      const frame = frames.findLast(isIt);
      found.push(frame?.type === 'chunk' ? frame.bytes : undefined);
    }
    return found;
  }

  private async *archived(shard: number, day: number): AsyncGenerator<ArchiveRecord[], void> {
    for (const { block, days } of this.shard(shard).archived) {
      if (!days.has(day)) continue;
      const frames = await this.inflate(block);
      const records = frames.flatMap((frame) => (frame.type === 'archived' ? frame.record : []));
      yield records.filter((record) => record.shard === shard && record.day === day);
    }
  }

  private async inflate(block: number): Promise<readonly Frame[]> {
    const kept = this.inflated.get(block) ?? (await this.read(block));
    this.inflated.delete(block);
    this.inflated.set(block, kept);
    const [oldest] = this.inflated.keys();
    if (this.inflated.size > BLOCKS_KEPT) this.inflated.delete(oldest as number);
    return kept;
  }

  private async read(block: number): Promise<readonly Frame[]> {
    const { header, end } = must(this.blocks[block], 'the index names blocks of the file');
    const data = Buffer.allocUnsafe(header.length);
    for (let done = 0; done < data.length; ) {
      const { bytesRead } = await this.file.read(data, done, data.length - done, end - header.length + done);
      if (bytesRead === 0) throw new ToolError(`${this.path} became shorter while it was read`);
      done += bytesRead;
    }
    return await openBlock(header, data);
  }

  private shard(shard: number): ShardIndex {
    const found = this.shards[shard];
    if (found === undefined) throw new ToolError(`${this.path} has no shard ${shard}`);
    return found;
  }
}

/** Backups of older releases do not contain the mark. The archived rounds in such a backup count as complete. */
function markOf({ archived, head }: ShardCoverage): ArchiveMark {
  return archived ?? { ...head.lsn, index: 0 };
}

/** Days of the archived rounds in these frames, by shard. */
function archivedDays(frames: readonly Frame[]): Map<number, Set<number>> {
  const found = new Map<number, Set<number>>();
  for (const frame of frames) {
    if (frame.type !== 'archived') continue;
    const { shard, day } = frame.record;
    found.set(shard, (found.get(shard) ?? new Set()).add(day));
  }
  return found;
}

/** Finds the position of the first block that contains an entry later than `after`. */
function firstAfter(entries: readonly BlockEntries[], after: Lsn): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareLsn((entries[middle] as BlockEntries).last, after) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
