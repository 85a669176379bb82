import { closeSync, existsSync, fsyncSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb';
import { FormatError } from '../format/format-error.js';

/** Offsets in a meta page: the magic number, and LMDB's page size. */
const MAGIC_AT = 24;
const PAGE_BYTES_AT = 48;
const MAGIC = 0xbeefc0de;
const META_BYTES = 52;
/** A thread that creates the same file writes its first two pages well within this time. */
const CREATED_MS = 100;

/**
 * Opens an LMDB file, which is at the `path` option or below it. A new file is on disk when this returns. LMDB writes
 * its first two pages without a sync, and lmdb 3.5.6 crashes (SIGSEGV) when it opens a file that has only part of these
 * pages. A power loss may leave such a file, so this throws a `FormatError` for it.
 */
export function openFile(file: string, options: RootDatabaseOptionsWithPath): RootDatabase<Buffer, Buffer> {
  const isNew = !existsSync(file) || statSync(file).size === 0;
  if (!isNew && !hasMetas(file)) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CREATED_MS);
    if (!hasMetas(file)) {
      throw new FormatError(
        `${file} is cut off or damaged at its beginning: if a power cut interrupted its creation, move it away; otherwise bring it back`,
      );
    }
  }
  const root = open<Buffer, Buffer>(options);
  if (isNew) for (const path of [file, dirname(file)]) sync(path);
  return root;
}

/** True if the file has both initial pages of LMDB. */
function hasMetas(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const magicOf = (at: number) => {
      const meta = Buffer.alloc(META_BYTES);
      readSync(descriptor, meta, 0, META_BYTES, at);
      return { isMeta: meta.readUInt32LE(MAGIC_AT) === MAGIC, pageBytes: meta.readUInt32LE(PAGE_BYTES_AT) };
    };
    const { isMeta, pageBytes } = magicOf(0);
    return isMeta && pageBytes > 0 && magicOf(pageBytes).isMeta && statSync(file).size >= 2 * pageBytes;
  } finally {
    closeSync(descriptor);
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
