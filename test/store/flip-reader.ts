import { readFileSync } from 'node:fs';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { type Book, lookUpAll, type Verdict } from './flipped-archive.js';

/*
 * A program that reads the archives in the folders that it receives, one after another. It is a separate process,
 * because LMDB may crash at a damaged page. The argument is the path of the book file.
 */
const book = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as Book;

async function read(folder: string): Promise<Verdict | { readonly refusedAtOpen: string }> {
  let archive: LmdbArchive;
  try {
    archive = LmdbArchive.open(folder, ARCHIVE_STORES[0]);
  } catch (error) {
    return { refusedAtOpen: String(error) };
  }
  try {
    return await lookUpAll(archive, book);
  } finally {
    await archive.close();
  }
}

process.on('message', (folder: string) => {
  void read(folder).then((verdict) => process.send?.(verdict));
});
