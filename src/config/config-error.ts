/** A setting that is wrong or unknown. The message is one sentence that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
