/**
 * Kinds of store that the setting `store` can name, with the consequences for other settings. To add a kind, add a row
 * here; the compiler then asks for its driver in node/drivers/drivers.ts.
 */
export type StoreKind = 'lmdb' | 'redis';

interface StoreKindSettings {
  /** Prefixes of the addresses, each with the form that messages show. */
  readonly addresses: Readonly<Record<string, string>>;
  /**
   * Name in the refusal of a `durability` other than fsync, for a kind that supports only fsync; undefined when all
   * values are supported.
   */
  readonly fsyncOnly: string | undefined;
  /** True when several nodes can share its shards. */
  readonly isShareable: boolean;
  /** Default of `init`. */
  readonly init: 'auto' | 'never';
}

const STORE_KINDS: Readonly<Record<StoreKind, StoreKindSettings>> = {
  lmdb: {
    addresses: { 'lmdb:': 'lmdb:FOLDER' },
    fsyncOnly: 'the embedded store',
    isShareable: false,
    // Newcomers expect an embedded store to exist.
    init: 'auto',
  },
  redis: {
    addresses: {
      'redis://': 'redis://…',
      'rediss://': 'rediss://…',
      'redis+sentinel://': 'redis+sentinel://…',
      'redis+cluster://': 'redis+cluster://…',
      'rediss+cluster://': 'rediss+cluster://…',
    },
    fsyncOnly: undefined,
    isShareable: true,
    // An empty Redis is more likely a wrong address than a new casino.
    init: 'never',
  },
};

const KINDS = Object.keys(STORE_KINDS) as readonly StoreKind[];
const ADDRESSES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(STORE_KINDS).map(({ addresses }) => addresses),
);

/** Matches every address of a store. */
export const STORE_PATTERN = `^(${Object.keys(ADDRESSES).map(escaped).join('|')}).`;

/** `lmdb:FOLDER, redis://…, …` */
export const STORE_FORMS = listed(Object.values(ADDRESSES));

/** Undefined when the text is no address of a store. */
export function findStoreKind(address: string): StoreKind | undefined {
  return KINDS.find((kind) => Object.keys(STORE_KINDS[kind].addresses).some((prefix) => address.startsWith(prefix)));
}

/** Settings that follow from the kind of store; undefined when the text is no address of a store. */
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
