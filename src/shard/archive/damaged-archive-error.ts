/** A file or table of the archive is damaged: nobody knows what it lacks. The message names it. */
export class DamagedArchiveError extends Error {
  override readonly name: string = 'DamagedArchiveError';
}
