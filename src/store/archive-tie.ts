import { FormatError } from './format/format-error.js';

/** How the meta record of a store names its archive. An archive of another id holds other rounds, whatever store it is of. */
export interface ArchiveTie {
  /** Id in the record; undefined: none yet. */
  readonly archiveId: string | undefined;
  /** For people: what and where the store is. */
  readonly store: string;
  /** Writes the id into a record that has none; resolves with the id that it has then. Undefined: nothing is written. */
  readonly write?: (archiveId: string) => Promise<string | undefined>;
}

/**
 * Throws a `FormatError` where the archive at `place` is not the one that the record names. `found`: its id; undefined where it has
 * none, as a new one. A record without an id takes any.
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
