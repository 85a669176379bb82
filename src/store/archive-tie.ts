import { FormatError } from './format/format-error.js';

/**
 * Reference to an archive in a store's meta record. An archive with another id holds other rounds, even if both
 * belong to the same store.
 */
export interface ArchiveTie {
  /** Id in the record; undefined: none yet. */
  readonly archiveId: string | undefined;
  /** Kind and place of the store, for people. */
  readonly store: string;
  /**
   * Writes the id into a record without one; resolves with the id that the record has then. Undefined: nothing is
   * written.
   */
  readonly write?: (archiveId: string) => Promise<string | undefined>;
}

/**
 * Throws a `FormatError` if the archive at `place` is not the one in the meta record. `found` is its id; undefined if
 * it has none, as a new one. A record without an id accepts any archive.
 */
export function mustBeTied({ archiveId, store }: ArchiveTie, found: string | undefined, place: string): void {
  if (archiveId === undefined || archiveId === found) return;
  const what =
    found === undefined ? 'has no id, so it is new or was made before archives had one' : `has the id ${found}`;
  throw new FormatError(
    `the archive in ${place} ${what}, and the store ${store} has its closed rounds in the archive ${archiveId}: ` +
      'use that one again, or restore a backup of both, or accept the loss (walletd accept-loss --archive)',
  );
}
