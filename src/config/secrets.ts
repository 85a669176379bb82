/** Settings whose values no message repeats. Each is mapped to the setting that names a file to read the value from. */
export const SECRETS: Readonly<Record<string, string>> = {
  'admin.token': 'admin.tokenFile',
  'signature.keys': 'signature.keysFile',
  store: 'storeFile',
  archive: 'archiveFile',
  'cluster.secret': 'cluster.secretFile',
};
/** Tables that contain secrets and can be set only in a settings file. */
export const SECRET_TABLES = ['admin.tokens'];

/** Also true for a group that contains a secret, and for anything below a secret. */
export function holdsSecret(path: string): boolean {
  const secrets = [...Object.keys(SECRETS), ...SECRET_TABLES];
  return secrets.some((secret) => `${secret}.`.startsWith(`${path}.`) || path.startsWith(`${secret}.`));
}
