import type { ArchiveRecord } from './archive.js';
import { DamagedArchiveError } from './damaged-archive-error.js';
import { formatLsn } from './lsn.js';

/** Thrown if an archive record is lost or differs from the record that was put, so that its content is unknown. */
export class DamagedRecordError extends DamagedArchiveError {
  override readonly name = 'DamagedRecordError';

  /** `where` is the human-readable name of the file or table. */
  constructor(
    readonly place: Omit<ArchiveRecord, 'ids' | 'image'>,
    where: string,
  ) {
    const { shard, player, round, lsn, index } = place;
    const name = `shard ${shard}, player ${player}, round ${round}, entry ${formatLsn(lsn)}, ${index}`;
    super(`a round in the archive is damaged: ${name}, in ${where}`);
  }
}
