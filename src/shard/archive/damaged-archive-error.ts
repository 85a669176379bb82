/**
 * A file or table of the archive is damaged, and its missing records are unknown. The message names the file or table.
 */
export class DamagedArchiveError extends Error {
  override readonly name: string = 'DamagedArchiveError';
}
