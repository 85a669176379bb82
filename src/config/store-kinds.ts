/*
 * The kinds of store that the setting `store` can name, and what follows from its kind for the other settings. A new
 * kind begins with a row here; the compiler then asks for its driver in node/drivers/drivers.ts.
 */
export type StoreKind = 'lmdb' | 'redis';

interface StoreKindSettings {
  /** How its addresses begin, each with the form that messages show. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Values of `durability` that it knows, and what to say of any other. */
  readonly durability: RegExp;
  readonly durabilityRefusal: string;
  /** `init` where that is not set. */
  readonly init: 'auto' | 'never';
}

export const STORE_KINDS: Readonly<Record<StoreKind, StoreKindSettings>> = {
  lmdb: {
    addresses: { 'lmdb:': 'lmdb:FOLDER' },
    durability: /^fsync$/,
    durabilityRefusal: 'the embedded store knows fsync only',
    // A newcomer expects an embedded store to be there.
    init: 'auto',
  },
  redis: {
    addresses: {
      'redis://': 'redis://…',
      'rediss://': 'rediss://…',
      'redis+sentinel://': 'redis+sentinel://…',
    },
    durability: /^(fsync|os|replicas:[1-9])$/,
    durabilityRefusal: 'Redis knows fsync, os and replicas:N',
    // An empty Redis is more likely a wrong address than a new casino.
    init: 'never',
  },
};

const KINDS = Object.keys(STORE_KINDS) as readonly StoreKind[];
const ADDRESSES = Object.assign({}, ...Object.values(STORE_KINDS).map(({ addresses }) => addresses));

/** Matches every address of a store. */
export const STORE_PATTERN = `^(${Object.keys(ADDRESSES).map(escaped).join('|')}).`;

/** `lmdb:FOLDER, redis://…, rediss://… or redis+sentinel://…` */
export const STORE_FORMS = listed(Object.values(ADDRESSES));

/** Undefined when this is no address of a store. */
export function maybeStoreKind(address: string): StoreKind | undefined {
  return KINDS.find((kind) => Object.keys(STORE_KINDS[kind].addresses).some((prefix) => address.startsWith(prefix)));
}

function escaped(text: string): string {
  return text.replace(/[+.]/g, '\\$&');
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
