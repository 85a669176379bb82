import { UserError } from '../base/user-error.js';

/**
 * Thrown if a file or table of the archive is damaged and it is unknown which records are missing. The message names
 * the file or table.
 */
export class DamagedArchiveError extends UserError {
  override readonly name: string = 'DamagedArchiveError';
}
