/** Their values are not repeated in messages. Each can be in a file of its own, which the setting behind it names. */
export const SECRETS: Readonly<Record<string, string>> = {
  'admin.token': 'admin.tokenFile',
  'signature.keys': 'signature.keysFile',
  store: 'storeFile',
};
/** In a file of settings only. */
export const SECRET_TABLES = ['admin.tokens'];

/** Also a group in the place of which something else was given, and what was put below a secret. */
export function holdsSecret(path: string): boolean {
  const secrets = [...Object.keys(SECRETS), ...SECRET_TABLES];
  return secrets.some((secret) => `${secret}.`.startsWith(`${path}.`) || path.startsWith(`${secret}.`));
}
