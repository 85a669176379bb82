import { hasEntry, tryEntry } from '../../log/log-reader.js';
import type { Lsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import { rawEntriesAfter } from '../raw-entries.js';
import type { StoreReader } from '../store-reader.js';
import { type HistoryItem, itemsOf } from './history-item.js';
import { entriesOf } from './inspect-entry.js';

/** Events that neither move money nor answer a request, and that shards append on their own. */
const UNANSWERED: readonly string[] = ['rounds-forgotten', 'rounds-archived', 'rounds-restored'];

export interface LostItem extends HistoryItem {
  readonly lsn: Lsn;
  /** The endpoint of the callback, or the type of any other event. */
  readonly endpoint: string;
}

export interface LostItems {
  readonly items: readonly LostItem[];
  /** By shard: number of missing or unusable entries whose content is known. */
  readonly entries: ReadonlyMap<number, number>;
  /** Human-readable notes that name unreadable files and the reasons. */
  readonly notes: readonly string[];
}

/** An orphans file of the node. */
export interface OrphansFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Items from acknowledged entries that a shard gives up when its loss is accepted. These are the entries in the node's
 * orphans files that the log lacks, and the log's entries after the point from which the shard continues (`reached`).
 */
export async function findLostItems(
  reader: StoreReader,
  files: readonly OrphansFile[],
  reached: ReadonlyMap<number, Lsn>,
): Promise<LostItems> {
  const found = new Map<string, Entry>();
  const notes: string[] = [];
  const add = (entry: Entry) => found.set(`${entry.shard} ${entry.lsn.epoch} ${entry.lsn.sequence}`, entry);
  for (const { path, bytes } of files) {
    const errors: Error[] = [];
    try {
      for (const entry of entriesOf(bytes, reader, errors)) {
        if (!(await hasEntry(entry.shard, entry.head, reader).catch(() => false))) add(entry);
      }
    } catch (error) {
      errors.push(error as Error);
    }
    const [first] = errors;
    if (first !== undefined) notes.push(`${path} cannot be read completely: ${first.message}`);
  }
  for (const [shard, lsn] of reached) {
    for await (const page of rawEntriesAfter(shard, lsn, reader)) {
      for (const bytes of page) {
        const entry = tryEntry(bytes, reader.format);
        if (entry !== undefined) add(entry);
      }
    }
  }
  const entries = new Map<number, number>();
  const items: LostItem[] = [];
  for (const entry of found.values()) {
    if (entry.owner !== undefined) continue;
    const { shard, lsn } = entry;
    entries.set(shard, (entries.get(shard) ?? 0) + 1);
    for (const [index, event] of entry.events.entries()) {
      if (UNANSWERED.includes(event.type)) continue;
      const endpoint = event.type === 'callback-applied' ? event.endpoint : event.type;
      for (const item of itemsOf(event, { shard, lsn, index }, () => undefined)) items.push({ ...item, lsn, endpoint });
    }
  }
  items.sort((one, other) => (one.timeMs ?? 0) - (other.timeMs ?? 0));
  return { items, entries, notes };
}
