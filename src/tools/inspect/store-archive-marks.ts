import type { MissingDay } from '../../ports/archive.js';
import { type ArchiveMark, compareMarks } from '../../wallet/archive-mark.js';
import { findRequiredMark } from '../required-mark.js';
import { type StoreReader, shardsOf } from '../store-reader.js';

export interface ShardArchiveMarks {
  readonly shard: number;
  /** The newest archive record on which the log relies. */
  readonly required: ArchiveMark | undefined;
  /** The newest record that the archive has ever contained. */
  readonly mark: ArchiveMark | undefined;
  /** True if the archive lacks a record on which the log relies, and is therefore not trusted. */
  readonly isBehind: boolean;
}

export interface StoreArchiveMarks {
  readonly shards: readonly ShardArchiveMarks[];
  readonly missingDays: readonly MissingDay[];
}

/**
 * Determines how far the logs rely on the archive, and how far the archive reaches. Reads the logs first, because a
 * server may be archiving rounds meanwhile.
 */
export async function storeArchiveMarks(reader: StoreReader): Promise<StoreArchiveMarks> {
  const shards: ShardArchiveMarks[] = [];
  for (const shard of shardsOf(reader)) {
    const required = await findRequiredMark(shard, reader);
    const mark = await reader.archive?.mark(shard);
    shards.push({ shard, required, mark, isBehind: required !== undefined && compareMarks(mark, required) < 0 });
  }
  return { shards, missingDays: (await reader.archive?.missingDays()) ?? [] };
}

export function isWhole({ shards, missingDays }: StoreArchiveMarks): boolean {
  return missingDays.length === 0 && shards.every(({ isBehind }) => !isBehind);
}
