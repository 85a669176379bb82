import { existsSync, readFileSync } from 'node:fs';
import { HISTORY_FOLDER, type StoredHistory } from './stored-history.js';

/** A snapshot of one shard, as stored. */
export interface StoredShard {
  readonly manifest: Buffer;
  readonly chunks: readonly Buffer[];
}

/** Formats of snapshots. */
const FORMATS = [1, 2, 3, 4, 5] as const;
type Format = (typeof FORMATS)[number];

/** Formats for which the history has a file. It has no files for formats that predate it. */
export function formatsOf(history: StoredHistory): readonly Format[] {
  return FORMATS.filter((format) => existsSync(snapshotsFileOf(history, format)));
}

export function snapshotsFileOf({ name }: StoredHistory, format: Format): URL {
  return new URL(`${name}/snapshots${format === 1 ? '' : `-${format}`}.txt`, HISTORY_FOLDER);
}

export function readSnapshots(history: StoredHistory, format: Format): StoredShard[] {
  return parse(readFileSync(snapshotsFileOf(history, format), 'utf8'));
}

/** Formats one record per line, as in the store file: each shard's `manifest`, then its `chunk`s. */
export function formatSnapshots(shards: readonly StoredShard[]): string {
  const line = (word: string, bytes: Buffer) => `${word} ${bytes.toString('hex')}\n`;
  return shards
    .flatMap(({ manifest, chunks }) => [line('manifest', manifest), ...chunks.map((chunk) => line('chunk', chunk))])
    .join('');
}

function parse(text: string): StoredShard[] {
  const shards: { manifest: Buffer; chunks: Buffer[] }[] = [];
  for (const line of text.trimEnd().split('\n')) {
    const [word, digits = ''] = line.split(' ');
    const bytes = Buffer.from(digits, 'hex');
    if (word === 'manifest') shards.push({ manifest: bytes, chunks: [] });
    else shards.at(-1)?.chunks.push(bytes);
  }
  return shards;
}
