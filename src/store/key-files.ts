import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { nextTurn, systemTimers } from '../base/timers.js';
import type { KeyFile, KeyPart, KeysInFile } from '../ports/key-file.js';
import type { Head } from '../ports/wal.js';
import { openKeyFile, sealHeader, sealSection } from './format/key-file.js';

/** Maximum size of a key file, enough for about 600 million keys. */
const BYTES_MAX = 2 ** 30;
/** Only the file's owner may read it, because the hashes in it reveal which rounds a player had. */
const MODE = 0o600;

/** Key files in the node's folder, named `archive-names-STORE-SHARD`. */
export class KeyFiles implements KeyFile {
  private readonly prefix: string;

  /** `store` distinguishes this store's files from those of other stores. */
  constructor(
    folder: string,
    store: string,
    private readonly storeId: string,
  ) {
    this.prefix = join(folder, `archive-names-${crc32(store).toString(16).padStart(8, '0')}`);
  }

  async read(shard: number): Promise<KeysInFile | undefined> {
    const path = this.pathOf(shard);
    try {
      const { size } = await stat(path);
      if (size > BYTES_MAX) throw new Error(`it has ${size} bytes, more than ${BYTES_MAX}`);
      return openKeyFile(await readFile(path), this.storeId, shard);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async write(shard: number, head: Head, parts: readonly KeyPart[]): Promise<void> {
    const path = this.pathOf(shard);
    await mkdir(dirname(path), { recursive: true });
    await removeTemporary(path);
    const header = sealHeader(
      { storeId: this.storeId, shard, head },
      parts.map(({ number }) => number),
    );
    // Use a unique temporary file per write, because another process may write the same target.
    const temporary = `${path}.${randomBytes(4).toString('hex')}`;
    const file = await open(temporary, 'wx', MODE);
    try {
      await file.writeFile(header.bytes);
      let bytes = header.bytes.length;
      for (const { number, encode } of parts) {
        const part = encode();
        if (part === undefined) throw new Error('a part was deleted in the meantime');
        bytes += part.length;
        if (bytes > BYTES_MAX) throw new Error(`it would have more than ${BYTES_MAX} bytes`);
        await file.writeFile(sealSection(header, number, part));
        await file.writeFile(part);
        await nextTurn(systemTimers);
      }
      await file.sync();
      await file.close();
      await rename(temporary, path);
    } catch (error) {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
      throw error;
    }
  }

  private pathOf(shard: number): string {
    return `${this.prefix}-${shard}`;
  }
}

/**
 * Removes temporary files of processes that died while writing. If another process is still writing such a file, its
 * rename fails, and that process writes the file again later.
 */
async function removeTemporary(path: string): Promise<void> {
  const folder = dirname(path);
  const temporaryName = new RegExp(`^${basename(path)}\\.[0-9a-f]{8}$`);
  for (const name of await readdir(folder)) if (temporaryName.test(name)) await rm(join(folder, name), { force: true });
}
