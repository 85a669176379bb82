/** Settings whose values no message repeats, each with the setting that names a file to read the value from. */
export const SECRETS: Readonly<Record<string, string>> = {
  'admin.token': 'admin.tokenFile',
  'signature.keys': 'signature.keysFile',
  store: 'storeFile',
  archive: 'archiveFile',
  'cluster.secret': 'cluster.secretFile',
};
/** Tables with secrets, which can only be set in a settings file. */
export const SECRET_TABLES = ['admin.tokens'];

/** True also for a group that contains a secret, and for anything below a secret. */
export function holdsSecret(path: string): boolean {
  const secrets = [...Object.keys(SECRETS), ...SECRET_TABLES];
  return secrets.some((secret) => `${secret}.`.startsWith(`${path}.`) || path.startsWith(`${secret}.`));
}
