import type { MemberRecord } from './table.js';

type ArchiveId = MemberRecord['archiveId'];

/** Archive id of a node whose archive did not answer at its start and is not yet named by the store. */
export const UNSEEN_ARCHIVE = '';

/**
 * Whether rounds archived by one node are unknown to the other. False when either node does not report an archive id.
 */
export function isOtherArchive(one: ArchiveId, other: ArchiveId): boolean {
  if (one === other || one === undefined || other === undefined) return false;
  if (one === null || other === null) return true;
  return one !== UNSEEN_ARCHIVE && other !== UNSEEN_ARCHIVE;
}

/**
 * The archive that the cluster's logs may rely on: `before`, else one that a member has. Undefined when none is known.
 */
export function archiveOf(told: Iterable<ArchiveId>, before: string | undefined): string | undefined {
  if (before !== undefined && before !== UNSEEN_ARCHIVE) return before;
  // Prefer an archive that has answered.
  const [id] = [...told].filter((one) => typeof one === 'string').sort((a, b) => (a > b ? -1 : 1));
  return id ?? before;
}
