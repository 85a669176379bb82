/** A wrong or unknown setting. The message is one sentence that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
