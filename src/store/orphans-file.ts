import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { EncodedEntry } from '../ports/wal.js';

/** Maximum number of files per shard. A store that loses entries more often than this is unusable anyway. */
const FILES_MAX = 100;

/**
 * Writes entries that a store has lost for good to a file for operators: `orphans-SHARD-EPOCH`, or `…-2` and so on
 * after repeated losses. Resolves with the path when the file is on disk.
 */
export async function writeOrphans(folder: string, shard: number, entries: readonly EncodedEntry[]): Promise<string> {
  const epoch = entries[entries.length - 1]?.head.lsn.epoch ?? 0;
  const pages = [entries.map((entry) => entry.bytes)];
  for (let file = 1; ; file++) {
    try {
      return await writeEntries(folder, `orphans-${shard}-${epoch}${file === 1 ? '' : `-${file}`}`, pages);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || file === FILES_MAX) throw error;
    }
  }
}

/** Writes entries as they are in the log, each preceded by its length as u32. */
export async function writeEntries(
  folder: string,
  name: string,
  pages: Iterable<readonly Buffer[]> | AsyncIterable<readonly Buffer[]>,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  const file = await open(path, 'wx');
  try {
    for await (const page of pages) {
      const parts = page.flatMap((bytes) => {
        const length = Buffer.alloc(4);
        length.writeUInt32BE(bytes.length);
        return [length, bytes];
      });
      await file.writeFile(Buffer.concat(parts));
    }
    await file.sync();
  } finally {
    await file.close();
  }
  const directory = await open(folder);
  await directory.sync();
  await directory.close();
  return path;
}
