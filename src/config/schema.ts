import { CURRENCY } from '../base/currency.js';
import {
  array,
  boolean,
  choice,
  integer,
  nullable,
  number,
  object,
  type Properties,
  record,
  string,
  type TypeOf,
} from '../base/json-schema.js';
import { STORE_PATTERN } from './store-kinds.js';

/*
 * Every setting, its range and its meaning. Defaults are in config/default.json. The environment variable of a setting
 * is its path in capitals: `void.allowNegativeBalance` is WALLETD_VOID_ALLOW_NEGATIVE_BALANCE. Tables and lists
 * (money.scales, products.list) can only be set in a file. Null: nothing is set, and what follows from other settings or
 * from the machine holds.
 */
const MIB = 1024 * 1024;

const group = <P extends Properties>(properties: P) => object(properties, {}, { additionalProperties: false });
const text = (description: string) => string({ minLength: 1, description });
const count = (minimum: number, maximum: number, description: string) => integer({ minimum, maximum, description });
const option = <const T extends string>(values: readonly T[], description: string) => choice(values, { description });
/** A text that need not be there. */
const maybeText = (description: string) => nullable(text(description));
const tlsFiles = (listener: string) =>
  group({
    certificateFile: maybeText(`PEM file with the certificate of ${listener} and those above it. Unset: plain HTTP.`),
    keyFile: maybeText('PEM file with the private key of that certificate.'),
  });

const product = object(
  { id: string({ minLength: 1, maxLength: 256 }) },
  { type: string(), isSingleState: boolean(), blocked: boolean() },
  { additionalProperties: false },
);

/** At least 16 characters that a header can carry. */
const TOKEN = '^[\\x21-\\x7e]{16,}$';
/** It is written into the log, where a lone surrogate would become another sign. */
const OPERATOR_NAME = '^\\P{C}{1,64}$';

const operatorToken = group({
  name: string({ pattern: OPERATOR_NAME }),
  role: option(['read', 'operate'], 'What the token lets do: look at everything, or also change it.'),
  token: string({ pattern: TOKEN }),
});

export const settingsSchema = group({
  host: text('Address of the callback listener.'),
  port: count(0, 65_535, 'Port of the callback listener; 0 takes a free one.'),
  admin: group({
    host: text("Address of the operator API's listener."),
    port: count(0, 65_535, "Port of the operator API's listener; 0 takes a free one."),
    token: nullable(
      string({
        pattern: TOKEN,
        description:
          'Bearer token of the operator API, at least 16 characters without blanks: of the operator named operator, who may do everything. ' +
          'Without a token only loopback may be bound.',
      }),
    ),
    tokens: array(operatorToken, {
      description:
        'Further tokens: `{"name", "role", "token"}`; the role is `read` or `operate`. The name is written into the log ' +
        'with what its operator does.',
    }),
    tokenFile: maybeText('File that holds `admin.token`.'),
    tls: tlsFiles('the operator API'),
  }),
  tls: tlsFiles('the callback listener'),
  signature: group({
    keys: maybeText(
      'Keys that callbacks may be signed with, `ID:SECRET`, separated by blanks or line ends; secrets have at least 16 ' +
        'characters. Unset: signatures are not asked for.',
    ),
    keysFile: maybeText('File that holds `signature.keys`.'),
    maxSkewMs: count(1, 86_400_000, "How far the time of a signature may be from this machine's."),
  }),
  allow: group({
    networks: maybeText(
      'Addresses and networks that callbacks may come from, e.g. `192.0.2.0/24, 2001:db8::/32`. Unset: any.',
    ),
    proxies: maybeText('Peers that are believed when they say for whom they speak. Unset: none.'),
    forwardedBy: option(
      ['x-forwarded-for', 'proxy-protocol'],
      'How these proxies say it: in a header, or in the PROXY protocol (version 2, without TLS).',
    ),
  }),
  insecure: boolean({
    description: 'Lets callbacks in from elsewhere than this machine with neither signature.keys nor allow.networks.',
  }),
  store: string({
    pattern: STORE_PATTERN,
    description:
      'Where the logs are: `lmdb:FOLDER`, `redis://user:password@host:port/database`, `rediss://…` (TLS) or ' +
      '`redis+sentinel://host:port,host:port/name`.',
  }),
  storeFile: maybeText('File that holds `store`.'),
  storePrefix: string({
    pattern: '^[A-Za-z0-9_.:-]{1,64}$',
    description: 'Begins the names of all keys in Redis.',
  }),
  durability: string({
    pattern: '^(fsync|os|replicas:[1-9])$',
    description:
      'What a write must have reached before it is told: `fsync`, `os` (a second can be lost) or `replicas:N`. ' +
      'LMDB knows `fsync` only.',
  }),
  redis: group({
    trustConfig: boolean({
      description: "True: Redis' settings are not looked at; for hosts that forbid CONFIG GET.",
    }),
  }),
  nodeFolder: text(
    "This node's own files, not in the store: what it last acknowledged, and entries that a store has lost, or could not be asked for.",
  ),
  init: nullable(
    option(
      ['auto', 'never'],
      '`auto` creates a store where there is none, `never` refuses an empty one. Unset: `auto` for LMDB, `never` for Redis.',
    ),
  ),
  shards: count(1, 1024, 'Shards of a new store. Fixed when it is created.'),
  workers: nullable(
    count(0, 64, 'Threads for the shards; 0: the main thread. Unset: 0 up to 2 cores, else cores - 2, at most 3.'),
  ),
  log: group({
    level: option(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'Least level that is logged.'),
    metricsSeconds: count(0, 86_400, 'Seconds between log lines with counters; 0: none.'),
    callbacks: option(
      ['none', 'errors', 'slow', 'all'],
      'Callbacks that get a log line of their own: none, those with another statusCode than 0, those that took ' +
        '`log.slowMs` or longer, or all.',
    ),
    slowMs: count(0, 60_000, 'Milliseconds from which on a callback is slow.'),
  }),
  money: group({
    scale: count(0, 8, 'Decimals of a currency that is not listed. Fixed when the store is created.'),
    scales: record(CURRENCY, integer({ minimum: 0, maximum: 8 }), {
      description: 'Decimals by currency, e.g. `{"BTC": 8}`. Fixed when the store is created.',
    }),
    amountMax: number({
      exclusiveMinimum: 0,
      maximum: 1e15,
      description: 'Largest single amount, in whole currency.',
    }),
  }),
  requestDeadlineMs: count(1, 60_000, 'After this a callback is answered with 50001 and HTTP 503: outcome unknown.'),
  txnsMax: count(1, 10_000, 'Elements of one `txns` array.'),
  tombstonesMax: count(1, 1_000_000, 'Remembered cancels of unknown ids and rounds, per player.'),
  openBetsMax: count(1, 1_000_000, 'OPEN and WAITING bets per player.'),
  historyMax: count(1, 1_000_000, 'Adjustments of one bet; payouts, and cancels and voids, of one round.'),
  duplicates: option(['replay', 'reject'], '`replay` answers a repeat with its first answer, `reject` with 20002.'),
  round: group({
    ended: option(
      ['refuse-payouts', 'ignore', 'refuse-all'],
      'What a round that has ended (isEndRound) refuses: further payouts, nothing, or also new bets.',
    ),
  }),
  void: group({
    amounts: option(['recorded', 'request'], "What a void moves back: the recorded amounts, or the request's."),
    allowNegativeBalance: boolean({ description: 'False: a void that would go below zero answers 10002.' }),
  }),
  tips: group({
    unknown: option(
      ['credit', 'reject'],
      'The cancel of an unknown tip: credit it once, also when that id had been refused, or answer 20001.',
    ),
    unknownMax: count(0, 1_000_000, 'Unknown tips credited per player and UTC day.'),
  }),
  products: group({
    unlisted: option(['accept', 'reject'], 'Whether products that are not in the list are accepted.'),
    list: array(product, { description: 'Products: `{"id", "type", "isSingleState", "blocked"}`.' }),
  }),
  retention: group({
    transactions: count(1, 36_500, 'Days that ids are remembered after the last change of their round.'),
  }),
  snapshots: group({
    everyEntries: count(
      0,
      1_000_000_000,
      "Entries of a shard's log after which a snapshot of it is taken; 0: never by this.",
    ),
    everySeconds: count(
      0,
      86_400,
      'Seconds after which a snapshot is taken of a shard that has changed; 0: never by this.',
    ),
    keep: count(1, 100, 'Newest snapshots kept of each shard; the log is trimmed when there are so many.'),
  }),
  history: group({
    maxBytes: count(0, 1e15, 'Bytes of log that are kept before the oldest snapshots; each shard has an equal share.'),
  }),
  memory: group({
    maxBytes: nullable(
      integer({
        minimum: 64 * MIB,
        description:
          'Limit of the heaps of all threads together. Unset: half of the memory of the machine or container.',
      }),
    ),
  }),
  limits: group({
    bodyBytesMax: count(1, 16 * MIB, 'Bytes of one callback; beyond it 413.'),
    connectionsMax: count(1, 1_000_000, 'Open connections of the callback listener; one more is closed.'),
    inFlightMax: count(1, 1_000_000, 'Callbacks that wait for their answer; beyond it 503.'),
    inFlightBytesMax: count(
      1,
      1024 * MIB,
      'Bytes of the bodies of these together, and as many of those that are still coming; beyond it 503.',
    ),
    mailboxMax: count(1, 1_000_000, 'Commands that wait for a shard whose entry is full; beyond it 503.'),
    batchEventsMax: count(1, 65_536, 'Events of one log entry; soft, a command is never split.'),
    batchBytesMax: count(1, 16 * MIB, 'Bytes of one log entry; soft, a command is never split.'),
    importLinesMax: count(1, 100_000_000, 'Lines of one import.'),
  }),
});

export type Settings = TypeOf<typeof settingsSchema>;
