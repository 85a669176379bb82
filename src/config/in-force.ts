import { type Loaded, scalarPaths, TABLES } from './load.js';
import { settingsSchema } from './schema.js';
import { holdsSecret } from './secrets.js';
import { type Tree, valueAt } from './tree.js';

/** A setting in force. */
export interface SettingInForce {
  readonly setting: string;
  /** As JSON has it; null: unset. */
  readonly value: unknown;
  /** The variable or the file that it comes from, or `default`. */
  readonly from: string;
}

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
}

const HIDDEN = '(hidden)';
/** Up to the last @: a password may have one that nobody has escaped. */
const CREDENTIALS = /(?<=\/\/).*@/;
/** What a running server takes over on SIGHUP: see `WalletNode.readAgain`. */
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

/** What a setting is for, in a sentence or two. */
export function meaningOf(setting: string): string {
  let at: Described | undefined = settingsSchema as Described;
  for (const key of setting.split('.')) at = at?.properties?.[key];
  return at?.description ?? '';
}

/** The settings of a running server: those of its start, but for what it has read again. */
export class RunningSettings {
  private newest: Loaded;

  constructor(private readonly atStart: Loaded) {
    this.newest = atStart;
  }

  /** To be called when `fresh` is in force as far as it can be. */
  haveBeenReadAgain(fresh: Loaded): void {
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

/** The address of a store as others may see it, without user and password, or what stands for them. */
export function withoutCredentials(store: string): string {
  return store.replace(CREDENTIALS, '');
}

/** A password that is not percent-encoded may hold slashes and signs @: all up to the last one. */
const AFTER_SCHEME = /([a-z+]+:\/\/)(?!user:password@)[^\s'"]*@/g;
/** No sentence of ours is longer, and the time for `ANY_CREDENTIALS` grows with its square. */
const MESSAGE_LENGTH_MAX = 10_000;
/** Credentials in an address, well spelt or not, but for the words that stand for them in our own sentences. */
const ANY_CREDENTIALS = /(?!user:password@)(?<![^\s'"/@])[^\s'"/@]*:[^\s'"/@]+@/g;

/** A message for people, in which addresses that it quotes have lost user and password. */
export function concealed(message: string): string {
  const shown = message.slice(0, MESSAGE_LENGTH_MAX).replace(AFTER_SCHEME, `$1${HIDDEN}@`);
  return shown.replace(ANY_CREDENTIALS, `${HIDDEN}@`);
}
