import { formatLsn } from '../log/lsn.js';
import type { ArchiveRecord } from './archive.js';

/** A record of the archive is not what was put there: nobody knows what it says. */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';

  /** `where`: the file or table, for people. */
  constructor(
    readonly place: Omit<ArchiveRecord, 'ids' | 'image'>,
    where: string,
  ) {
    const { shard, player, round, lsn, index } = place;
    const name = `shard ${shard}, player ${player}, round ${round}, entry ${formatLsn(lsn)}, ${index}`;
    super(`a round in the archive is damaged: ${name}, in ${where}`);
  }
}
