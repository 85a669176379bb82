import { formatLsn, tryLsn } from '../shard/log/lsn.js';
import type { Position } from '../shard/log/wal.js';

/** For example 3-1042:9b1deb4d. */
const POSITION = /^([^:]+)(?::([0-9a-f]{8}))?$/;

/** LSN and checksum of an entry: `3-1042:9b1deb4d`; without a checksum `3-1042`. */
export function formatPosition({ lsn, checksum }: Position): string {
  return checksum === undefined ? formatLsn(lsn) : `${formatLsn(lsn)}:${checksum.toString(16).padStart(8, '0')}`;
}

/** Undefined for any other text. */
export function parsePosition(text: string): Position | undefined {
  const [, place = '', checksum] = POSITION.exec(text) ?? [];
  const lsn = tryLsn(place);
  return lsn && { lsn, checksum: checksum === undefined ? undefined : Number.parseInt(checksum, 16) };
}
