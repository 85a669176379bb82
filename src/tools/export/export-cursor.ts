import { access, constants, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatLsn, tryLsn } from '../../ports/lsn.js';
import type { Head, Position } from '../../ports/wal.js';
import { ToolError } from '../store-reader.js';

interface Stored {
  readonly storeId: string;
  /**
   * Positions by shard. The checksum distinguishes the entry from an entry with the same LSN in a different history.
   */
  readonly positions: readonly { readonly lsn: string; readonly checksum: number }[];
}

/** Stores the position of an export in a small JSON file. */
export class ExportCursor {
  constructor(
    private readonly path: string,
    private readonly storeId: string,
    private readonly shards: number,
  ) {}

  /**
   * Reads the positions by shard; undefined if there is no file. Throws a `ToolError` if the file belongs to a
   * different store or is not a cursor. Rejects if the file's folder is not writable.
   */
  async read(): Promise<readonly Position[] | undefined> {
    let text: string;
    await access(dirname(this.path), constants.W_OK);
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const { storeId, positions } = this.parse(text);
    if (storeId !== this.storeId) {
      throw new ToolError(`${this.path} belongs to store ${storeId}, but this is store ${this.storeId}`);
    }
    if (positions.length !== this.shards) this.refuse();
    return positions.map((position) => {
      const lsn = tryLsn(String(position?.lsn)) ?? this.refuse();
      return { lsn, checksum: Number.isInteger(position.checksum) ? position.checksum : this.refuse() };
    });
  }

  /** A power failure can restore the previous position. The events after it are then exported again. */
  async write(positions: readonly Head[]): Promise<void> {
    const stored: Stored = {
      storeId: this.storeId,
      positions: positions.map(({ lsn, checksum }) => ({ lsn: formatLsn(lsn), checksum })),
    };
    const beside = `${this.path}.new`;
    await writeFile(beside, `${JSON.stringify(stored)}\n`, { flush: true });
    await rename(beside, this.path);
  }

  private parse(text: string): Stored {
    try {
      const stored = JSON.parse(text) as Stored;
      if (Array.isArray(stored.positions)) return stored;
    } catch {
      // Report invalid JSON with the same error as invalid positions.
    }
    return this.refuse();
  }

  private refuse(): never {
    throw new ToolError(`${this.path} is not a cursor of walletd export: remove it, and choose a start with --from`);
  }
}
