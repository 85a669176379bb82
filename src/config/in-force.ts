import { type Loaded, scalarPaths, TABLES } from './load.js';
import { settingsSchema } from './schema.js';
import { holdsSecret } from './secrets.js';
import { type Tree, valueAt } from './tree.js';

/** A setting in force. */
export interface SettingInForce {
  readonly setting: string;
  /** JSON value; null: unset. */
  readonly value: unknown;
  /** Source: a variable, a file, or `default`. */
  readonly from: string;
}

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

const HIDDEN = '(hidden)';
/** Matches up to the last @: a password may contain an unescaped @. */
const CREDENTIALS = /(?<=\/\/).*@/;
/** Settings that a running server applies on SIGHUP: see `WalletNode.readAgain`. */
const READ_AGAIN = /^(insecure$|signature\.|allow\.|admin\.token|log\.(?!metricsSeconds$))/;

/** All settings; secrets are hidden. */
export function inForce({ settings, sources }: Loaded): SettingInForce[] {
  const tree = settings as unknown as Tree;
  return [...scalarPaths(tree), ...TABLES].map((setting) => ({
    setting,
    value: shown(setting, valueAt(tree, setting)),
    from: sources.get(setting) ?? 'default',
  }));
}

/** Meaning of a setting, in a sentence or two. */
export function meaningOf(setting: string): string {
  let at: Described | undefined = settingsSchema as Described;
  for (const key of setting.split('.')) at = at?.properties?.[key];
  return at?.description ?? '';
}

/** Settings of a running server: those of its start, except for the ones it has reloaded. */
export class RunningSettings {
  private newest: Loaded;

  constructor(private readonly atStart: Loaded) {
    this.newest = atStart;
  }

  /** Call this when `fresh` is in force, as far as it can be. */
  noteReload(fresh: Loaded): void {
    this.newest = fresh;
  }

  all(): SettingInForce[] {
    const newest = new Map(inForce(this.newest).map((one) => [one.setting, one]));
    return inForce(this.atStart).map((one) => (READ_AGAIN.test(one.setting) ? (newest.get(one.setting) ?? one) : one));
  }
}

/** The address of a store is no secret, but its password is. */
function shown(setting: string, value: unknown): unknown {
  if (value === null || !holdsSecret(setting)) return value;
  return setting === 'store' ? String(value).replace(CREDENTIALS, `${HIDDEN}@`) : HIDDEN;
}

/** Address of a store for others to see, without user and password or their placeholder. */
export function withoutCredentials(store: string): string {
  return store.replace(CREDENTIALS, '');
}

/** A password that is not percent-encoded may contain slashes and @ signs: matches everything up to the last @. */
const AFTER_SCHEME = /([a-z+]+:\/\/)(?!user:password@)[^\s'"]*@/g;
/** Longer than any of our messages; the running time of `ANY_CREDENTIALS` grows with the square of the length. */
const MESSAGE_LENGTH_MAX = 10_000;
/** Credentials in an address, well-formed or not, except for the placeholder words of our own messages. */
const ANY_CREDENTIALS = /(?!user:password@)(?<![^\s'"/@])[^\s'"/@]*:[^\s'"/@]+@/g;

/** Message for people, without user and password in the addresses that it quotes. */
export function concealed(message: string): string {
  const shown = message.slice(0, MESSAGE_LENGTH_MAX).replace(AFTER_SCHEME, `$1${HIDDEN}@`);
  return shown.replace(ANY_CREDENTIALS, `${HIDDEN}@`);
}
