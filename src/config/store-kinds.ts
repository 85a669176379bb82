/*
 * The kinds of store that the setting `store` can name, and what follows from its kind for the other settings. A new
 * kind begins with a row here; the compiler then asks for its driver in node/drivers/drivers.ts.
 */
export type StoreKind = 'lmdb' | 'redis';

interface StoreKindSettings {
  /** How its addresses begin, each with the form that messages show. */
  readonly addresses: Readonly<Record<string, string>>;
  /** What a refusal calls it when `durability` is not fsync, the only value it knows; undefined when it knows all. */
  readonly fsyncOnly: string | undefined;
  /** Several nodes can have a part of its shards each. */
  readonly isShareable: boolean;
  /** `init` where that is not set. */
  readonly init: 'auto' | 'never';
}

const STORE_KINDS: Readonly<Record<StoreKind, StoreKindSettings>> = {
  lmdb: {
    addresses: { 'lmdb:': 'lmdb:FOLDER' },
    fsyncOnly: 'the embedded store',
    isShareable: false,
    // A newcomer expects an embedded store to be there.
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

/** Undefined when this is no address of a store. */
export function maybeStoreKind(address: string): StoreKind | undefined {
  return KINDS.find((kind) => Object.keys(STORE_KINDS[kind].addresses).some((prefix) => address.startsWith(prefix)));
}

/** The settings that follow from the kind of store; undefined when this is no address of a store. */
export function maybeKindSettings(address: string): StoreKindSettings | undefined {
  const kind = maybeStoreKind(address);
  return kind === undefined ? undefined : STORE_KINDS[kind];
}

function escaped(text: string): string {
  return text.replace(/[+.]/g, '\\$&');
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
