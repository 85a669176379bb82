import type { MemberRecord } from './table.js';

type ArchiveId = MemberRecord['archiveId'];

/** Id of an archive that did not answer at the start of its node, and that the store does not name yet. */
export const UNSEEN_ARCHIVE = '';

/** Whether rounds that leave memory on one node are unknown to the other. Nothing is known of a node that does not say. */
export function isOtherArchive(one: ArchiveId, other: ArchiveId): boolean {
  if (one === other || one === undefined || other === undefined) return false;
  if (one === null || other === null) return true;
  return one !== UNSEEN_ARCHIVE && other !== UNSEEN_ARCHIVE;
}

/** The archive that the logs of a cluster may rely on: `before`, else one that a member has. Undefined: none that is known. */
export function archiveOf(told: Iterable<ArchiveId>, before: string | undefined): string | undefined {
  if (before !== undefined && before !== UNSEEN_ARCHIVE) return before;
  // An archive that has been seen comes first.
  const [id] = [...told].filter((one) => typeof one === 'string').sort((a, b) => (a > b ? -1 : 1));
  return id ?? before;
}
