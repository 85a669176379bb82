/** Wrong or unknown setting. The message is one sentence that names the setting. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
