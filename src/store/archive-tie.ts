import { FormatError } from './format/format-error.js';

/**
 * The archive that a store's meta record names. Two archives with different ids hold different rounds, even if they
 * belong to the same store.
 */
export interface ArchiveTie {
  /** The archive id in the meta record; undefined if the record has none yet. */
  readonly archiveId: string | undefined;
  /** The kind and location of the store, in human-readable form. */
  readonly store: string;
  /**
   * Writes the id into a meta record that has none, and resolves with the id that the record then has. If there is no
   * such function, the record stays unchanged.
   */
  readonly write?: (archiveId: string) => Promise<string | undefined>;
}

/**
 * Throws a `FormatError` if the archive at `place` is not the one that the meta record names. `found` is the archive's
 * id; undefined for an archive that has no id yet. A record without an id accepts any archive.
 */
export function mustBeTied({ archiveId, store }: ArchiveTie, found: string | undefined, place: string): void {
  if (archiveId === undefined || archiveId === found) return;
  const what = found === undefined ? 'has no id, so it is new or older than archive ids' : `has the id ${found}`;
  throw new FormatError(
    `the archive in ${place} ${what}, but the closed rounds of the store ${store} are in the archive ${archiveId}: ` +
      'use that archive again, restore a backup of both, or accept the loss (walletd accept-loss --archive)',
  );
}
