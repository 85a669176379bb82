/**
 * Kinds of store that the `store` setting can name, with their effects on other settings. To add a kind, add a row
 * here. The compiler then requires a driver for it in node/drivers/drivers.ts.
 */
export type StoreKind = 'lmdb' | 'redis';

interface StoreKindSettings {
  /** Address prefixes, each with the form that messages show. */
  readonly addresses: Readonly<Record<string, string>>;
  /**
   * For a kind that supports only fsync: its name in the error message for other `durability` values. Undefined if all
   * values are supported.
   */
  readonly fsyncOnly: string | undefined;
  /** True if several nodes can share the store's shards. */
  readonly isShareable: boolean;
  /** The default value of `init`. */
  readonly init: 'auto' | 'never';
}

const STORE_KINDS: Readonly<Record<StoreKind, StoreKindSettings>> = {
  lmdb: {
    addresses: { 'lmdb:': 'lmdb:FOLDER' },
    fsyncOnly: 'the embedded store',
    isShareable: false,
    // Newcomers expect an embedded store to be created automatically.
    init: 'auto',
  },
  redis: {
    addresses: {
      'redis://': 'redis://…',
      'rediss://': 'rediss://…',
      'redis+sentinel://': 'redis+sentinel://…',
      'rediss+sentinel://': 'rediss+sentinel://…',
      'redis+cluster://': 'redis+cluster://…',
      'rediss+cluster://': 'rediss+cluster://…',
    },
    fsyncOnly: undefined,
    isShareable: true,
    // An empty Redis is more likely to be a wrong address than a new casino.
    init: 'never',
  },
};

const KINDS = Object.keys(STORE_KINDS) as readonly StoreKind[];
const ADDRESSES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(STORE_KINDS).map(({ addresses }) => addresses),
);

/** Matches every store address. */
export const STORE_PATTERN = `^(${Object.keys(ADDRESSES).map(escaped).join('|')}).`;

/** `lmdb:FOLDER, redis://…, …` */
export const STORE_FORMS = listed(Object.values(ADDRESSES));

/** Undefined if the text is not a store address. */
export function findStoreKind(address: string): StoreKind | undefined {
  return KINDS.find((kind) => Object.keys(STORE_KINDS[kind].addresses).some((prefix) => address.startsWith(prefix)));
}

/** Settings derived from the kind of store; undefined if the text is not a store address. */
export function findKindSettings(address: string): StoreKindSettings | undefined {
  const kind = findStoreKind(address);
  return kind === undefined ? undefined : STORE_KINDS[kind];
}

function escaped(text: string): string {
  return text.replace(/[+.]/g, '\\$&');
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
