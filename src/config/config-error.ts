import { UserError } from '../base/user-error.js';

/** Wrong or unknown setting. The message is one sentence that names the setting. */
export class ConfigError extends UserError {
  override readonly name = 'ConfigError';
  override readonly ending = 'usage';
}
