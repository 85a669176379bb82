import { formatLsn, tryLsn } from '../ports/lsn.js';
import type { Position } from '../ports/wal.js';

/** Matches, for example, 3-1042:9b1deb4d. */
const POSITION = /^([^:]+)(?::([0-9a-f]{8}))?$/;

/** Formats an entry's LSN and checksum: `3-1042:9b1deb4d`, or `3-1042` without a checksum. */
export function formatPosition({ lsn, checksum }: Position): string {
  return checksum === undefined ? formatLsn(lsn) : `${formatLsn(lsn)}:${checksum.toString(16).padStart(8, '0')}`;
}

/** Parses a formatted position; undefined for any other text. */
export function parsePosition(text: string): Position | undefined {
  const [, place = '', checksum] = POSITION.exec(text) ?? [];
  const lsn = tryLsn(place);
  return lsn && { lsn, checksum: checksum === undefined ? undefined : Number.parseInt(checksum, 16) };
}
