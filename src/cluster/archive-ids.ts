import type { MemberRecord } from '../ports/table.js';

type ArchiveId = MemberRecord['archiveId'];

/** The archive id of a node whose archive did not answer at startup and whose store does not name it yet. */
export const UNSEEN_ARCHIVE = '';

/**
 * True if rounds that one node archived are unknown to the other. False if either node does not report an archive id.
 */
export function isOtherArchive(one: ArchiveId, other: ArchiveId): boolean {
  if (one === other || one === undefined || other === undefined) return false;
  if (one === null || other === null) return true;
  return one !== UNSEEN_ARCHIVE && other !== UNSEEN_ARCHIVE;
}

/**
 * The archive that the cluster's logs may rely on: `before`, or else one that a member has. Undefined if none is known.
 */
export function archiveOf(reported: Iterable<ArchiveId>, before: string | undefined): string | undefined {
  if (before !== undefined && before !== UNSEEN_ARCHIVE) return before;
  // Prefer an archive that has answered. Sort, so that every node chooses the same one.
  const [id] = [...reported].filter((one) => typeof one === 'string').sort((a, b) => (a > b ? -1 : 1));
  return id ?? before;
}
