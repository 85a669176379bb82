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

/**
 * Schema of every setting: range and meaning. Defaults are in config/default.json. The environment variable of a
 * setting is its path in capitals: `void.allowNegativeBalance` is WALLETD_VOID_ALLOW_NEGATIVE_BALANCE. Tables and lists
 * (money.scales, money.amountMaxima, money.byHand.amountMaxima, products.list, callbacks.aliases) can be set only in a
 * file. Null means unset: the value is derived from other settings or from the machine.
 */
const MIB = 1024 * 1024;

const group = <P extends Properties>(properties: P) => object(properties, {}, { additionalProperties: false });
const text = (description: string) => string({ minLength: 1, description });
const count = (minimum: number, maximum: number, description: string) => integer({ minimum, maximum, description });
const option = <const T extends string>(values: readonly T[], description: string) => choice(values, { description });
/** Text setting that may be unset. */
const optionalText = (description: string) => nullable(text(description));
const tlsFiles = (listener: string) =>
  group({
    certificateFile: optionalText(`PEM file with the certificate of ${listener} and its chain. Unset: plain HTTP.`),
    keyFile: optionalText('PEM file with the private key of that certificate.'),
  });

const product = object(
  { id: string({ minLength: 1, maxLength: 256 }) },
  { type: string(), isSingleState: boolean(), blocked: boolean() },
  { additionalProperties: false },
);

/** At least 16 characters that are valid in an HTTP header. */
const TOKEN = '^[\\x21-\\x7e]{16,}$';
/** The name is written to the log, where a lone surrogate would become a different character. */
const OPERATOR_NAME = '^\\P{C}{1,64}$';

const operatorToken = group({
  name: string({ pattern: OPERATOR_NAME }),
  role: option(
    ['monitor', 'read', 'operate'],
    'What the token allows: to read metrics, health and the cluster, to read everything, or to change it as well.',
  ),
  token: string({ pattern: TOKEN }),
});

export const settingsSchema = group({
  host: text('Address of the callback listener.'),
  port: count(0, 65_535, 'Port of the callback listener; 0 takes a free one.'),
  httpLibrary: option(
    ['auto', 'uws', 'node'],
    'HTTP library of the callback listener. `auto`: uWebSockets.js where one of its binaries loads, otherwise the HTTP of Node itself, which is ' +
      'slower. `uws` does not start without a binary.',
  ),
  admin: group({
    host: text("Address of the operator API's listener."),
    port: count(0, 65_535, "Port of the operator API's listener; 0 takes a free one."),
    token: nullable(
      string({
        pattern: TOKEN,
        description:
          'Bearer token of the operator API, at least 16 characters without blanks. Its operator is named operator and may do ' +
          'everything. Without any token the operator API binds to loopback only.',
      }),
    ),
    tokens: array(operatorToken, {
      description:
        'Further tokens: `{"name", "role", "token"}`; the role is `monitor`, `read` or `operate`. The name is written into the log ' +
        'with each of its operations.',
    }),
    tokenFile: optionalText('File that holds `admin.token`.'),
    tls: tlsFiles('the operator API'),
  }),
  tls: tlsFiles('the callback listener'),
  health: group({
    host: text('Address of the health listener.'),
    port: nullable(
      count(
        0,
        65_535,
        'Port of a listener for load balancers: `/livez` and `/readyz` over plain HTTP, without a token, and nothing ' +
          'else. 0 takes a free one. Unset: there is none.',
      ),
    ),
  }),
  signature: group({
    keys: optionalText(
      'Keys that callbacks may be signed with: `ID:SECRET`, separated by blanks or line ends; a secret has at least 16 ' +
        'characters. Unset: callbacks need no signature.',
    ),
    keysFile: optionalText('File that holds `signature.keys`.'),
    maxSkewMs: count(
      1,
      86_400_000,
      "How far the time of a signature may be from this machine's time, in milliseconds.",
    ),
  }),
  allow: group({
    networks: optionalText(
      'Addresses and networks that callbacks may come from, e.g. `192.0.2.0/24, 2001:db8::/32`. Unset: any.',
    ),
    proxies: optionalText(
      "Addresses and networks of proxies whose word about the caller's address is trusted. Unset: none.",
    ),
    forwardedBy: option(
      ['x-forwarded-for', 'proxy-protocol'],
      'How these proxies pass the address on: in a header, or in the PROXY protocol (version 2, without TLS).',
    ),
  }),
  callbacks: group({
    aliases: record(/^/, string(), {
      description:
        'Further paths of endpoints, for platforms that call them otherwise: `{"/balance": "checkBalance"}`. Signatures, metrics and ' +
        "logs are the endpoint's.",
    }),
    strict: nullable(
      boolean({
        description:
          'True: fields that decide nothing must not be missing, and a placeBets of 0 needs `isFeature`. Null: false, but true where ' +
          '`decisions.version` is 1.',
      }),
    ),
    reason: nullable(
      boolean({
        description:
          'True: the answer to a malformed callback says why, in a field `reason`. Null: true, but false where `decisions.version` is 1.',
      }),
    ),
    prefix: optionalText(
      'Path before the endpoints for platforms that put one there, e.g. `/wallet` for `/wallet/placeBets`; without it they are served as well.',
    ),
  }),
  statusCodes: group({
    closed: option(
      ['own', 'duplicate'],
      'What a cancelled or settled transaction is answered with: 20003 and 20004, or 20002 for platforms that have neither.',
    ),
  }),
  insecure: boolean({
    description:
      'Lets the callback listener bind to more than loopback with neither signature.keys nor allow.networks, and the ' +
      'operator API take its tokens over plain HTTP there.',
  }),
  requireTls: boolean({
    description:
      'True: a start is refused when the store or the archive is beyond this machine and reached without TLS. False: a warning.',
  }),
  store: string({
    pattern: STORE_PATTERN,
    description:
      'Where the logs are: `lmdb:FOLDER`, `redis://user:password@host:port/database`, `rediss://…` (TLS), ' +
      '`redis+sentinel://host:port,host:port/name` (several names: shard by shard in turn; `rediss+sentinel://…`; ' +
      '`?sentinel=user:password` at the end logs in to the sentinels) or `redis+cluster://host:port,host:port` ' +
      '(`rediss+cluster://…`).',
  }),
  storeFile: optionalText('File that holds `store`.'),
  archive: nullable(
    string({
      pattern: '^postgres(ql)?://.',
      description:
        'Where closed rounds go: `postgres://user:password@host:port/database?sslmode=verify-full`, each part percent-encoded. ' +
        'Unset: of an LMDB store into its folder, of Redis nowhere, so that all of them stay in memory.',
    }),
  ),
  archiveFile: optionalText('File that holds `archive`.'),
  storePrefix: string({
    pattern: '^[A-Za-z0-9_.:-]{1,64}$',
    description: 'Prefix of all keys in Redis.',
  }),
  durability: string({
    pattern: '^(fsync|os|peers:1|(replicas|synced):[1-9])$',
    description:
      'Where a write must be before its callback is answered. `fsync`: on the disk of the store. `os`: in Redis, whose ' +
      'disk follows within a second (that second can be lost). `replicas:N`: in Redis and in N replicas. `synced:N`: on ' +
      'the disks of Redis and of N replicas. `peers:1`: on the disk of Redis and in one other node of the cluster. LMDB ' +
      'supports only `fsync`.',
  }),
  postgres: group({
    trustConfig: boolean({
      description:
        'True: walletd does not check fsync, full_page_writes and synchronous_commit of PostgreSQL; for hosts whose storage makes ' +
        'them needless.',
    }),
  }),
  redis: group({
    trustConfig: boolean({
      description: 'True: walletd does not check the settings of Redis; for hosts that forbid CONFIG GET.',
    }),
  }),
  nodeFolder: text(
    "Folder for this node's own files: what it last acknowledged, and log entries that the store lost or could not be asked for.",
  ),
  init: nullable(
    option(
      ['auto', 'never'],
      '`auto` creates a store where there is none, `never` refuses to start without one. Unset: `auto` for LMDB, `never` for Redis.',
    ),
  ),
  shards: count(1, 1024, 'Number of shards. Fixed when the store is created.'),
  workers: nullable(
    count(
      0,
      64,
      'Worker threads for the shards; 0: the main thread. Unset: 0 on up to 2 cores, else cores - 2, at most 3.',
    ),
  ),
  log: group({
    level: option(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'Lowest level that is logged.'),
    metricsSeconds: count(0, 86_400, 'Seconds between log lines with counters; 0: none.'),
    callbacks: option(
      ['none', 'errors', 'slow', 'all'],
      'Callbacks that get a log line of their own: none, those answered with a statusCode other than 0, those that took ' +
        '`log.slowMs` or longer, or all.',
    ),
    slowMs: count(0, 60_000, 'Milliseconds after which a callback counts as slow.'),
  }),
  money: group({
    scale: count(0, 8, 'Decimals of a currency that is not listed. Fixed when the store is created.'),
    scales: record(CURRENCY, integer({ minimum: 0, maximum: 8 }), {
      description: 'Decimals by currency, e.g. `{"BTC": 8}`. Fixed when the store is created.',
    }),
    amountMax: nullable(
      number({
        exclusiveMinimum: 0,
        maximum: 1e15,
        description:
          'Largest single amount, in whole currency, of a currency that is not listed. Null: a tenth of the largest balance, which is 2^53 units ' +
          '(90 billion with 4 decimals, 9 million with 8).',
      }),
    ),
    creditMax: nullable(
      number({
        exclusiveMinimum: 0,
        maximum: 1e15,
        description:
          'Largest single credit that no bet answers for, in whole currency: a reward, a credit of adjustBalance, the refund of an unknown ' +
          'tip. More is answered with 40003. Null: money.amountMax.',
      }),
    ),
    amountMaxima: record(CURRENCY, number({ exclusiveMinimum: 0, maximum: 1e15 }), {
      description: 'Largest single amount by currency, in whole currency, e.g. `{"IDR": 20000000000}`.',
    }),
    byHand: group({
      amountMaxima: record(CURRENCY, number({ exclusiveMinimum: 0, maximum: 1e15 }), {
        description:
          'Most that an operator may move by hand in one operation, by currency, in whole currency, e.g. `{"THB": 50000}`. A currency that ' +
          'is not listed has no such limit.',
      }),
      dayMaxima: record(CURRENCY, number({ exclusiveMinimum: 0, maximum: 1e15 }), {
        description:
          'Most that an operator may move by hand in one UTC day, deposits, withdrawals, corrections and imported balances together, by ' +
          'currency, in whole currency.',
      }),
      perMinute: nullable(
        count(
          1,
          100_000,
          'How often an operator may move money by hand within a minute, on each node. Unset: as often as they like.',
        ),
      ),
      approveAbove: record(CURRENCY, number({ minimum: 0, maximum: 1e15 }), {
        description:
          'Deposits, withdrawals and corrections of more than this wait until another operator approves, by currency, in whole currency. A ' +
          'currency that is not listed needs no approval.',
      }),
      approvalHours: count(1, 720, 'Hours after which money that waits for another operator is refused by itself.'),
    }),
  }),
  cluster: group({
    host: text('Address of the listener for other nodes.'),
    port: nullable(
      count(
        0,
        65_535,
        'Port of the listener for other nodes. Set: several nodes share the shards of one store in Redis. Unset: this node has ' +
          'all of them.',
      ),
    ),
    advertise: optionalText(
      'Where other nodes reach this one: `HOST` or `HOST:PORT`. Unset: `cluster.host`, or where that is every address the ' +
        'name of the machine.',
    ),
    name: optionalText('Name of this node, for people; another one for each. Unset: the name of the machine.'),
    zone: optionalText(
      'What fails together, such as a data centre: a shard is followed in another zone, if that can be.',
    ),
    secret: nullable(
      string({
        pattern: TOKEN,
        description:
          'What nodes prove to each other that they know, at least 16 characters without blanks. Needed beyond loopback.',
      }),
    ),
    secretFile: optionalText('File that holds `cluster.secret`.'),
    tls: group({
      certificateFile: optionalText(
        'PEM file with the certificate of this node for its links. Unset: plain WebSockets.',
      ),
      keyFile: optionalText('PEM file with the private key of that certificate.'),
      caFile: optionalText('PEM file with the authorities that sign the certificates of nodes, and of nobody else.'),
    }),
    followers: count(0, 3, 'Nodes that follow each shard and can take it over with nothing to load.'),
    expect: count(1, 1000, 'Nodes that the first plan waits for, up to a minute.'),
    drainSeconds: count(0, 3600, 'How long the end of a node waits until others have its shards.'),
  }),
  storeWaitSeconds: count(
    0,
    86_400,
    'How long a start waits for a store that is away (refuses connections, has none left, loads its data). 0: it does not wait.',
  ),
  requestDeadlineMs: count(
    1,
    60_000,
    'Milliseconds after which a callback is answered with 50001 and HTTP 503: outcome unknown.',
  ),
  txnsMax: count(1, 10_000, 'Maximum number of elements of one `txns` array.'),
  tombstonesMax: count(1, 1_000_000, 'Maximum number of remembered cancels of unknown ids and rounds, per player.'),
  openBetsMax: count(1, 1_000_000, 'Maximum number of OPEN and WAITING bets, per player.'),
  historyMax: count(
    1,
    1_000_000,
    'Maximum number of adjustments and of rollbacks of one bet, of payouts of one round, and of its cancels, voids and rollbacks; of messages without an effect that one round remembers, where it is below 100.',
  ),
  decisions: group({
    version: nullable(
      count(
        1,
        2,
        'Version of the decisions that hold (docs/decisions-versions.md): 2 is that of today, 1 the one before. Null: as when the store was created.',
      ),
    ),
  }),
  duplicates: option(['replay', 'reject'], '`replay` answers a repeat with its first answer, `reject` with 20002.'),
  sessionToken: option(
    ['ignore', 'check'],
    "`check` answers 30001 to a checkBalance, placeBets or placeTips without the token of the player's session, which the operator " +
      'API sets. Only where every product sends one.',
  ),
  round: group({
    ended: option(
      ['refuse-payouts', 'ignore', 'refuse-all'],
      'What a round that has ended (isEndRound) refuses: further payouts, nothing, or new bets as well.',
    ),
  }),
  void: group({
    amounts: option(['recorded', 'request'], "What a void moves back: the recorded amounts, or the request's."),
    allowNegativeBalance: boolean({
      description: 'False: a void that would make the balance negative is answered with 10002.',
    }),
  }),
  rollback: group({
    allowNegativeBalance: boolean({
      description: 'False: a rollback that would make the balance negative is answered with 10002.',
    }),
    stale: option(
      ['request', 'time', 'off'],
      'How the late retry of a settle or cancel that was rolled back is known, and answered with 20002: by its request id; by its timestampMillis, where it is before the one of the rollback (for platforms that settle again under the same request id); or, with `off`, the very message alone, which was sent before the rollback.',
    ),
  }),
  tips: group({
    unknown: nullable(
      option(
        ['credit', 'reject'],
        'What to do with the cancel of an unknown tip: credit it once, or answer 20001. Null: `reject`, but `credit` in a store that was created before placeTips was served. Where no message places tips, set `credit`.',
      ),
    ),
    unknownMax: count(0, 1_000_000, 'Maximum number of unknown tips credited per player and UTC day.'),
  }),
  adjustBalance: group({
    creditMax: nullable(
      number({
        minimum: 0,
        description:
          'Largest single credit of adjustBalance, in whole currency: nothing of ours says that it is owed. More is answered with 40003. Null: money.creditMax.',
      }),
    ),
  }),
  products: group({
    unlisted: option(['accept', 'reject'], 'Whether callbacks of products that are not in the list are accepted.'),
    list: array(product, {
      description: 'Products: `{"id", "blocked"}`. `type` and `isSingleState` are accepted and have no effect.',
    }),
  }),
  retention: group({
    transactions: count(1, 36_500, 'Days for which ids are remembered after the last change of their round.'),
    memorySeconds: number({
      minimum: 0.001,
      maximum: 31_536_000,
      description:
        'How long a round of which nothing is open stays in memory after its last change, where there is an archive.',
    }),
  }),
  clock: group({
    confirmedOn: nullable(
      string({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description:
          "Today's date (UTC) from a calendar, by somebody who has checked this machine's clock. While the clock agrees within a day: log time " +
          'far ahead of it is set back when the shards are taken over, and days and ids expire without further witnesses.',
      }),
    ),
  }),
  snapshots: group({
    everyEntries: count(
      0,
      1_000_000_000,
      "Entries of a shard's log after which a snapshot of it is taken; 0: not by entries.",
    ),
    everySeconds: count(
      0,
      86_400,
      'Seconds after which a snapshot is taken of a shard that has changed; 0: not by time.',
    ),
    keep: count(1, 100, 'Snapshots kept of each shard; its log is trimmed once there are this many.'),
  }),
  backup: group({
    metricsFile: optionalText(
      'File that `walletd backup --follow --metrics` writes on this machine: the console tells of it. Unset: the console knows no backup.',
    ),
  }),
  history: group({
    maxBytes: count(0, 1e15, 'Bytes of log kept from before the oldest snapshots; each shard has an equal share.'),
  }),
  memory: group({
    idleSeconds: count(
      1,
      86_400,
      'Seconds after which a player whom nobody asks for is packed, into half the room; at the latest after twice as many.',
    ),
    maxBytes: nullable(
      integer({
        minimum: 96 * MIB,
        description:
          'Limit for the memory of all threads together, records and heaps, in bytes. Unset: half of the memory of the machine or container.',
      }),
    ),
  }),
  limits: group({
    bodyBytesMax: count(1, 16 * MIB, 'Maximum bytes of one callback; beyond it 413.'),
    connectionsMax: count(
      1,
      1_000_000,
      'Maximum number of open connections of the callback listener; a further one takes the place of one that has asked nothing, or is closed.',
    ),
    idleSeconds: count(
      1,
      3600,
      'Seconds that an idle connection of the operator API stays open. Longer than a balancer in front keeps its own.',
    ),
    inFlightMax: count(1, 1_000_000, 'Maximum number of callbacks that wait for their answer; beyond it 503.'),
    inFlightBytesMax: count(
      1,
      1024 * MIB,
      'Maximum bytes of the bodies of these together, and as many again of bodies still being received; beyond it 503.',
    ),
    mailboxMax: count(
      1,
      1_000_000,
      'Maximum number of commands that wait for a shard whose entry is full; beyond it 503.',
    ),
    batchEventsMax: count(
      1,
      65_536,
      'Maximum number of events of one log entry; a soft limit, as a command is never split.',
    ),
    batchBytesMax: count(1, 16 * MIB, 'Maximum bytes of one log entry; a soft limit, as a command is never split.'),
    importLinesMax: count(1, 100_000_000, 'Maximum number of lines of one import.'),
  }),
});

export type Settings = TypeOf<typeof settingsSchema>;
