import { readdirSync, readFileSync } from 'node:fs';
import type { Entry, Head } from '../../src/ports/wal.js';
import { decodeHead, EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { decodeMeta, type StoreMeta } from '../../src/store/meta.js';
import { parseStoreFile, type StoredBytes } from './store-file.js';

/** A store as a version of walletd wrote it, and the state of its wallets at that time. */
export interface StoredHistory {
  readonly name: string;
  readonly bytes: StoredBytes;
  readonly expected: string;
  readonly meta: StoreMeta;
  readonly codec: EntryCodec;
  /** Logs of the store, one for each shard. */
  readonly logs: readonly StoredLog[];
}

export interface StoredLog {
  readonly shard: number;
  readonly genesis: Head;
  readonly head: Head;
  readonly entries: readonly StoredEntry[];
}

export interface StoredEntry {
  readonly bytes: Buffer;
  readonly entry: Entry;
}

export const HISTORY_FOLDER = new URL('../../../test/history/', import.meta.url);
export const STORE_FILE = 'store.txt';
export const EXPECTED_FILE = 'expected.txt';

export function readHistories(): StoredHistory[] {
  const items = readdirSync(HISTORY_FOLDER, { withFileTypes: true });
  const names = items.filter((item) => item.isDirectory()).map(({ name }) => name);
  // The other folder has the codecs of earlier releases.
  return names
    .filter((name) => name !== 'frozen')
    .sort()
    .map(readHistory);
}

function readHistory(name: string): StoredHistory {
  const read = (file: string) => readFileSync(new URL(`${name}/${file}`, HISTORY_FOLDER), 'utf8');
  const bytes = parseStoreFile(read(STORE_FILE));
  const meta = decodeMeta(bytes.meta);
  const codec = new EntryCodec(meta.storeId);
  const entries = bytes.entries.map((one) => ({ bytes: one, entry: codec.decode(one) }));
  const logs = bytes.heads.map((head, shard) => ({
    shard,
    genesis: genesisHead(meta.storeId, shard),
    head: decodeHead(head),
    entries: entries.filter(({ entry }) => entry.shard === shard),
  }));
  return { name, bytes, expected: read(EXPECTED_FILE), meta, codec, logs };
}
