/** A backup or a restore that cannot be made as it was asked for. The message says why, and what can be done. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
