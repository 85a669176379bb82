import { type Loaded, scalarPaths, TABLES } from './load.js';
import { settingsSchema } from './schema.js';
import { holdsSecret } from './secrets.js';
import { type Tree, valueAt } from './tree.js';

/** A setting in force. */
export interface SettingInForce {
  readonly setting: string;
  /** JSON value; null if unset. */
  readonly value: unknown;
  /** Source: an environment variable, a file, or `default`. */
  readonly from: string;
}

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

const HIDDEN = '(hidden)';
/** Matches up to the last @, because a password may contain an unescaped @. */
const CREDENTIALS = /(?<=\/\/).*@/;
/** Settings that a running server reloads on SIGHUP; see `WalletNode.readAgain`. */
const READ_AGAIN = /^(insecure$|signature\.(?!maxSkewMs$)|allow\.|admin\.token|log\.(?!metricsSeconds$))/;

/** All settings, with secrets redacted. */
export function inForce({ settings, sources }: Loaded): SettingInForce[] {
  const tree = settings as unknown as Tree;
  return [...scalarPaths(tree), ...TABLES].map((setting) => ({
    setting,
    value: shown(setting, valueAt(tree, setting)),
    from: sources.get(setting) ?? 'default',
  }));
}

/** The meaning of a setting, in one or two sentences. */
export function meaningOf(setting: string): string {
  let at: Described | undefined = settingsSchema as Described;
  for (const key of setting.split('.')) at = at?.properties?.[key];
  return at?.description ?? '';
}

/** Settings of a running server: those from startup, plus the ones it has reloaded since. */
export class RunningSettings {
  private newest: Loaded;

  constructor(private readonly atStart: Loaded) {
    this.newest = atStart;
  }

  /** Records that the settings of `fresh` that can be reloaded are now in force. */
  noteReload(fresh: Loaded): void {
    this.newest = fresh;
  }

  all(): SettingInForce[] {
    const newest = new Map(inForce(this.newest).map((one) => [one.setting, one]));
    return inForce(this.atStart).map((one) => (READ_AGAIN.test(one.setting) ? (newest.get(one.setting) ?? one) : one));
  }
}

/** A store's address is not secret, but the password in it is. */
function shown(setting: string, value: unknown): unknown {
  if (value === null || !holdsSecret(setting)) return value;
  return setting === 'store' ? String(value).replace(CREDENTIALS, `${HIDDEN}@`) : HIDDEN;
}

/** The store address that is safe to show, without user and password or their placeholders. */
export function withoutCredentials(store: string): string {
  return store.replace(CREDENTIALS, '');
}

/**
 * A password that is not percent-encoded may contain slashes and @ signs, so this matches everything up to the last @.
 */
const AFTER_SCHEME = /([a-z+]+:\/\/)(?!user:password@)[^\s'"]*@/g;
/** Longer than any of our messages. The running time of `ANY_CREDENTIALS` grows quadratically with the length. */
const MESSAGE_LENGTH_MAX = 10_000;
/** Credentials in an address, well-formed or not. Excludes the placeholders in our own messages. */
const ANY_CREDENTIALS = /(?!user:password@)(?<![^\s'"/@])[^\s'"/@]*:[^\s'"/@]+@/g;

/** A human-readable message, with user and password removed from the addresses that it quotes. */
export function concealed(message: string): string {
  const shown = message.slice(0, MESSAGE_LENGTH_MAX).replace(AFTER_SCHEME, `$1${HIDDEN}@`);
  return shown.replace(ANY_CREDENTIALS, `${HIDDEN}@`);
}
