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
 * The schema of every setting: range and meaning. Defaults are in config/default.json. The environment variable of a
 * setting is its path in capitals: `void.allowNegativeBalance` is WALLETD_VOID_ALLOW_NEGATIVE_BALANCE. Tables and lists
 * (money.scales, money.amountMaxima, money.byHand.amountMaxima, products.list, callbacks.aliases) can be set only in a
 * file. Null means unset: the value is derived from other settings or from the machine.
 */
const MIB = 1024 * 1024;

const group = <P extends Properties>(properties: P) => object(properties, {}, { additionalProperties: false });
const text = (description: string) => string({ minLength: 1, description });
const count = (minimum: number, maximum: number, description: string) => integer({ minimum, maximum, description });
const option = <const T extends string>(values: readonly T[], description: string) => choice(values, { description });
/** A text setting that may be unset. */
const optionalText = (description: string) => nullable(text(description));
const tlsFiles = (listener: string) =>
  group({
    certificateFile: optionalText(`PEM file with the certificate of ${listener} and its chain. Unset: plain HTTP.`),
    keyFile: optionalText(`PEM file with the private key of ${listener}.`),
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
    'Rights of the token. `monitor`: to read metrics, health and the cluster. `read`: to read everything. `operate`: ' +
      'to read and change everything.',
  ),
  token: string({ pattern: TOKEN }),
});

export const settingsSchema = group({
  host: text('Address of the callback listener.'),
  port: count(0, 65_535, 'Port of the callback listener. 0: any free port.'),
  httpLibrary: option(
    ['auto', 'uws', 'node'],
    "HTTP library of the callback listener. `auto`: uWebSockets.js if a binary of it loads, otherwise Node's own HTTP " +
      'server. `uws`: walletd does not start without a binary.',
  ),
  admin: group({
    host: text("Address of the operator API's listener."),
    port: count(0, 65_535, "Port of the operator API's listener. 0: any free port."),
    token: nullable(
      string({
        pattern: TOKEN,
        description:
          'Bearer token of the operator API: at least 16 characters, no spaces. It belongs to the operator named ' +
          '`operator`, who has all rights. Without any token, the operator API listens on loopback only.',
      }),
    ),
    tokens: array(operatorToken, {
      description:
        'Additional tokens: `{"name", "role", "token"}`; the role is `monitor`, `read` or `operate`. The log records ' +
        'each operation with the name of the token that was used.',
    }),
    tokenFile: optionalText('File that contains `admin.token`.'),
    tls: tlsFiles('the operator API'),
  }),
  tls: tlsFiles('the callback listener'),
  health: group({
    host: text('Address of the health listener.'),
    port: nullable(
      count(
        0,
        65_535,
        'Port of a listener for load balancers that serves only `/livez` and `/readyz`, over plain HTTP and without a ' +
          'token. 0: any free port. Unset: no such listener.',
      ),
    ),
  }),
  signature: group({
    keys: optionalText(
      'Keys for signing callbacks: `ID:SECRET`, separated by spaces or line breaks; a secret has at least 16 ' +
        'characters. Unset: callbacks need no signature.',
    ),
    keysFile: optionalText('File that contains `signature.keys`.'),
    maxSkewMs: count(
      1,
      86_400_000,
      "Maximum difference between the time in a signature and this machine's time, in milliseconds.",
    ),
  }),
  allow: group({
    networks: optionalText(
      'Addresses and networks from which callbacks are accepted, e.g. `192.0.2.0/24, 2001:db8::/32`. Unset: any ' +
        'address.',
    ),
    proxies: optionalText(
      "Addresses and networks of the proxies that are trusted to report the caller's address. Unset: no proxy is " +
        'trusted.',
    ),
    forwardedBy: option(
      ['x-forwarded-for', 'proxy-protocol'],
      "How these proxies report the caller's address: in a header, or by the PROXY protocol (version 2, without TLS).",
    ),
  }),
  callbacks: group({
    aliases: record(/^/, string(), {
      description:
        'Additional paths of endpoints, for platforms that use other names: `{"/balance": "checkBalance"}`. Signatures, ' +
        'metrics and logs treat a request to such a path as a request to the endpoint.',
    }),
    strict: nullable(
      boolean({
        description:
          'True: informational fields are required as well, and a placeBets of 0 needs `isFeature`. Null: true if ' +
          '`decisions.version` is 1, otherwise false.',
      }),
    ),
    reason: nullable(
      boolean({
        description:
          'True: the answer to a malformed callback has a field `reason` that explains the error. Null: false if ' +
          '`decisions.version` is 1, otherwise true.',
      }),
    ),
    prefix: optionalText(
      'Path prefix for platforms that put one before the endpoint, e.g. `/wallet` for `/wallet/placeBets`. The ' +
        'endpoints are also served without the prefix.',
    ),
  }),
  statusCodes: group({
    closed: option(
      ['own', 'duplicate'],
      'Status codes for a transaction that is already cancelled or settled. `own`: 20003 and 20004. `duplicate`: 20002 ' +
        'for both, for platforms that know neither code.',
    ),
  }),
  insecure: boolean({
    description:
      'True: the callback listener may listen beyond loopback without signature.keys and allow.networks, and the ' +
      'operator API may accept tokens there over plain HTTP.',
  }),
  requireTls: boolean({
    description:
      'True: walletd refuses to start if it would connect to a store or an archive on another machine without TLS. ' +
      'False: walletd only logs a warning.',
  }),
  store: string({
    pattern: STORE_PATTERN,
    description:
      'Address of the store: `lmdb:FOLDER`, `redis://user:password@host:port/database`, `redis+sentinel://…` or ' +
      '`redis+cluster://…`; docs/settings.md has all forms.',
  }),
  storeFile: optionalText('File that contains `store`.'),
  archive: nullable(
    string({
      pattern: '^postgres(ql)?://.',
      description:
        'Address of the archive: `postgres://user:password@host:port/database?sslmode=verify-full`. Unset: an LMDB ' +
        'store keeps its archive in its own folder, and a Redis store has none.',
    }),
  ),
  archiveFile: optionalText('File that contains `archive`.'),
  storePrefix: string({
    pattern: '^[A-Za-z0-9_.:-]{1,64}$',
    description: "Prefix of all of walletd's keys in Redis.",
  }),
  durability: string({
    pattern: '^(fsync|os|(replicas|synced):[1-9])$',
    description:
      'Where a write must be before its callback is answered. `fsync`: on disk. `os`: in Redis. `replicas:N`: in Redis ' +
      'and N replicas. `synced:N`: on the disks of Redis and N replicas. LMDB: only `fsync`.',
  }),
  postgres: group({
    trustConfig: boolean({
      description:
        "True: walletd does not check PostgreSQL's fsync, full_page_writes and synchronous_commit; for hosts whose " +
        'storage is safe without them.',
    }),
  }),
  redis: group({
    trustConfig: boolean({
      description: "True: walletd does not check Redis's settings; for hosts that forbid CONFIG GET.",
    }),
  }),
  nodeFolder: text(
    "Folder for this node's own files, such as the record of its newest acknowledged entries, and acknowledged " +
      'entries that are missing from the log or could not be checked.',
  ),
  init: nullable(
    option(
      ['auto', 'never'],
      '`auto`: walletd creates a store if none exists. `never`: walletd refuses to start without a store. Unset: ' +
        '`auto` for LMDB, `never` for Redis.',
    ),
  ),
  shards: count(1, 1024, 'Number of shards. Fixed when the store is created.'),
  workers: nullable(
    count(
      0,
      64,
      'Number of worker threads that run the shards. 0: the main thread runs them. Unset: 0 on up to 2 cores, ' +
        'otherwise cores - 2, at most 3.',
    ),
  ),
  log: group({
    level: option(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'Lowest level of log lines that are written.',
    ),
    metricsSeconds: count(0, 86_400, 'Seconds between log lines with counters; 0: none.'),
    callbacks: option(
      ['none', 'errors', 'slow', 'all'],
      'Callbacks that get their own log line. `errors`: callbacks whose statusCode is not 0. `slow`: callbacks that ' +
        'took `log.slowMs` or longer.',
    ),
    slowMs: count(0, 60_000, 'Duration from which a callback counts as slow, in milliseconds.'),
  }),
  money: group({
    scale: count(
      0,
      8,
      'Number of decimals of each currency that is not in `money.scales`. Fixed when the store is created.',
    ),
    scales: record(CURRENCY, integer({ minimum: 0, maximum: 8 }), {
      description: 'Number of decimals by currency, e.g. `{"BTC": 8}`. Fixed when the store is created.',
    }),
    amountMax: nullable(
      number({
        exclusiveMinimum: 0,
        maximum: 1e15,
        description:
          'Largest single amount, in whole currency units, in each currency that is not in `money.amountMaxima`. Null: a ' +
          'tenth of the largest balance (90 billion with 4 decimals, 9 million with 8).',
      }),
    ),
    creditMax: nullable(
      number({
        exclusiveMinimum: 0,
        maximum: 1e15,
        description:
          'Largest single credit without a bet, in whole currency units: a reward, a credit of adjustBalance, or the ' +
          'refund of an unknown tip. A larger credit gets 40003. Null: the value of money.amountMax.',
      }),
    ),
    amountMaxima: record(CURRENCY, number({ exclusiveMinimum: 0, maximum: 1e15 }), {
      description: 'Largest single amount by currency, in whole currency units, e.g. `{"IDR": 20000000000}`.',
    }),
    byHand: group({
      amountMaxima: record(CURRENCY, number({ exclusiveMinimum: 0, maximum: 1e15 }), {
        description:
          'Maximum amount that an operator may move by hand in one operation, by currency, in whole currency units, e.g. ' +
          '`{"THB": 50000}`. A currency that is not listed has no such limit.',
      }),
      dayMaxima: record(CURRENCY, number({ exclusiveMinimum: 0, maximum: 1e15 }), {
        description:
          'Maximum sum that an operator may move by hand in one UTC day, by currency, in whole currency units. Deposits, ' +
          'withdrawals, corrections and imported balances all count.',
      }),
      perMinute: nullable(
        count(
          1,
          100_000,
          'Maximum number of money movements by hand per operator and minute, on each node. Unset: no limit.',
        ),
      ),
      approveAbove: record(CURRENCY, number({ minimum: 0, maximum: 1e15 }), {
        description:
          'Amount above which a deposit, withdrawal or correction waits until another operator approves it, by currency, ' +
          'in whole currency units. A currency that is not listed needs no approval.',
      }),
      approvalHours: count(1, 720, "Hours after which a movement that waits for another operator's approval expires."),
    }),
  }),
  cluster: group({
    host: text('Address of the listener for other nodes.'),
    port: nullable(
      count(
        0,
        65_535,
        'Port of the listener for other nodes. If set, several nodes share the shards of one store in Redis. Unset: this ' +
          'node has all shards.',
      ),
    ),
    advertise: optionalText(
      "Address at which other nodes reach this node: `HOST` or `HOST:PORT`. Unset: `cluster.host`, or the machine's " +
        'host name if `cluster.host` stands for all addresses.',
    ),
    name: optionalText(
      "Human-readable name of this node, which must be unique in the cluster. Unset: the machine's host name.",
    ),
    zone: optionalText(
      "Name of a group of nodes that can fail together, such as a data centre. If possible, a shard's follower is in a " +
        'different zone from its owner.',
    ),
    secret: nullable(
      string({
        pattern: TOKEN,
        description:
          'Shared secret that authenticates the nodes to each other: at least 16 characters, no spaces. Required beyond ' +
          'loopback.',
      }),
    ),
    secretFile: optionalText('File that contains `cluster.secret`.'),
    tls: group({
      certificateFile: optionalText(
        'PEM file with the certificate of this node for its links. Unset: WebSockets without TLS.',
      ),
      keyFile: optionalText('PEM file with the private key of this node for its links.'),
      caFile: optionalText(
        'PEM file with the certificate authorities of the nodes. These authorities must sign certificates only for nodes.',
      ),
    }),
    followers: count(
      0,
      3,
      'Number of nodes that follow each shard, and can therefore take it over without loading it first.',
    ),
    expect: count(1, 1000, 'Number of nodes that the first plan waits for, for at most a minute.'),
    drainSeconds: count(
      0,
      3600,
      'Maximum number of seconds that a stopping node waits for other nodes to take over its shards.',
    ),
  }),
  storeWaitSeconds: count(
    0,
    86_400,
    'Maximum number of seconds that a starting process waits for an unavailable store, which refuses connections, ' +
      'has no free connections, or is still loading its data. 0: the process does not wait.',
  ),
  rehearsalMaxMs: count(
    0,
    10_000,
    'Maximum number of milliseconds that a starting process executes callbacks of its own in memory, so that the first ' +
      'real ones are as fast as later ones. At least one round of them is executed. 0: no rehearsal.',
  ),
  requestDeadlineMs: count(
    1,
    60_000,
    'Deadline of a callback, in milliseconds. After the deadline the answer is 50001 with HTTP 503: outcome unknown.',
  ),
  txnsMax: count(1, 10_000, 'Maximum number of elements in one `txns` array.'),
  tombstonesMax: count(1, 1_000_000, 'Maximum number of remembered cancels of unknown ids and rounds, per player.'),
  openBetsMax: count(1, 1_000_000, 'Maximum number of OPEN and WAITING bets, per player.'),
  historyMax: count(
    1,
    1_000_000,
    'Maximum number of adjustments and of rollbacks of one bet, of payouts of one round, and of cancels, voids and ' +
      'rollbacks of one round. A value below 100 also limits remembered messages.',
  ),
  decisions: group({
    version: nullable(
      count(
        1,
        2,
        'Version of the decisions that apply (docs/decisions-versions.md): 2 is the current version, 1 the earlier one. ' +
          'Null: the version with which the store was created.',
      ),
    ),
  }),
  duplicates: option(['replay', 'reject'], '`replay`: a repeat gets the first answer. `reject`: a repeat gets 20002.'),
  sessionToken: option(
    ['ignore', 'check'],
    "`check`: a checkBalance, placeBets or placeTips without the token of the player's session gets 30001. Use `check` " +
      'only if every product sends the token.',
  ),
  round: group({
    ended: option(
      ['refuse-payouts', 'ignore', 'refuse-all'],
      'What a round refuses after its end (isEndRound). `refuse-payouts`: further payouts. `ignore`: nothing. ' +
        '`refuse-all`: further payouts and new bets.',
    ),
  }),
  void: group({
    amounts: option(
      ['recorded', 'request'],
      'Amounts that a void moves back: the recorded amounts, or the amounts in the request.',
    ),
    allowNegativeBalance: boolean({
      description: 'False: a void that would make the balance negative gets 10002.',
    }),
  }),
  rollback: group({
    allowNegativeBalance: boolean({
      description: 'False: a rollback that would make the balance negative gets 10002.',
    }),
    stale: option(
      ['request', 'time', 'off'],
      'How a late retry of a rolled-back settle or cancel is recognised. `request`: by its request id. `time`: ' +
        'by its timestampMillis. `off`: only if the message is identical.',
    ),
  }),
  tips: group({
    unknown: nullable(
      option(
        ['credit', 'reject'],
        'Effect of the cancel of an unknown tip. `credit`: the amount is credited once. `reject`: the answer is 20001. ' +
          'Set `credit` if your platform sends no placeTips.',
      ),
    ),
    unknownMax: count(0, 1_000_000, 'Maximum number of unknown tips credited per player and UTC day.'),
  }),
  adjustBalance: group({
    creditMax: nullable(
      number({
        minimum: 0,
        description:
          'Largest single credit of adjustBalance, in whole currency units. walletd has no record that such a credit is ' +
          'owed. A larger credit gets 40003. Null: the value of money.creditMax.',
      }),
    ),
  }),
  products: group({
    unlisted: option(
      ['accept', 'reject'],
      'Whether callbacks are accepted for products that are not in `products.list`.',
    ),
    list: array(product, {
      description: 'Products: `{"id", "blocked"}`. `type` and `isSingleState` are accepted and have no effect.',
    }),
  }),
  retention: group({
    transactions: count(
      1,
      36_500,
      'Number of days for which walletd remembers ids, counted from the last change of their round.',
    ),
    memorySeconds: number({
      minimum: 0.001,
      maximum: 31_536_000,
      description:
        'Number of seconds that a round without open bets stays in memory after its last change. Applies only with an ' +
        'archive.',
    }),
  }),
  clock: group({
    confirmedOn: nullable(
      string({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description:
          "Today's date (UTC), set by an operator who has checked this machine's clock. While the clock is within a day of " +
          'this date, it counts as confirmed.',
      }),
    ),
  }),
  snapshots: group({
    everyEntries: count(
      0,
      1_000_000_000,
      'Number of log entries after which walletd takes a new snapshot of a shard. 0: the number of entries causes no ' +
        'snapshot.',
    ),
    everySeconds: count(
      0,
      86_400,
      'Number of seconds after which walletd takes a new snapshot of a shard that has changed. 0: time causes no ' +
        'snapshot.',
    ),
    keep: count(
      1,
      100,
      "Number of snapshots that are kept of each shard. The shard's log is trimmed once it has this many snapshots.",
    ),
  }),
  backup: group({
    metricsFile: optionalText(
      "File that `walletd backup --follow --metrics` writes on this machine. The console shows the backup's progress " +
        'from this file. Unset: the console shows no backup.',
    ),
  }),
  history: group({
    maxBytes: count(
      0,
      1e15,
      'Bytes of log to keep from before the oldest snapshots, divided equally among the shards.',
    ),
  }),
  feed: group({
    maxBytes: count(
      0,
      1e15,
      'Maximum bytes of log to keep for feeds whose consumers are behind, divided equally among the shards. In Redis this ' +
        'is memory. 0: the log is not kept for feeds.',
    ),
    maxSeconds: count(
      0,
      31_536_000,
      'Maximum age of the log that is kept for feeds whose consumers are behind, in seconds. 0: the log is not kept for feeds.',
    ),
  }),
  memory: group({
    idleSeconds: count(
      1,
      86_400,
      "Number of seconds after which an unused player is hibernated, which halves the player's memory. It happens " +
        'after twice this time at the latest.',
    ),
    maxBytes: nullable(
      integer({
        minimum: 96 * MIB,
        description:
          'Limit for the memory of all threads together, both records and heaps, in bytes. Unset: half of the memory of ' +
          'the machine or container.',
      }),
    ),
  }),
  limits: group({
    bodyBytesMax: count(1, 16 * MIB, "Maximum size of one callback's body, in bytes. A larger one gets HTTP 413."),
    connectionsMax: count(
      1,
      1_000_000,
      'Maximum number of open connections of the callback listener. If it is reached, ' +
        'walletd closes the oldest connection without a request, otherwise the new one.',
    ),
    idleSeconds: count(
      1,
      3600,
      'Number of seconds that an idle connection to the operator API stays open. It must be longer than a load ' +
        'balancer in front keeps its idle connections.',
    ),
    inFlightMax: count(
      1,
      1_000_000,
      'Maximum number of callbacks that wait for their answer. Further callbacks get HTTP 503.',
    ),
    inFlightBytesMax: count(
      1,
      1024 * MIB,
      'Maximum total size of the bodies of callbacks that wait for their answer, in bytes. The same limit applies ' +
        'again to bodies that are still being received. Beyond the limit, callbacks get HTTP 503.',
    ),
    mailboxMax: count(
      1,
      1_000_000,
      'Maximum number of commands that wait for a shard whose current log entry is full. Further commands get HTTP 503.',
    ),
    batchEventsMax: count(
      1,
      65_536,
      'Maximum number of events in one log entry. An entry can exceed this limit, because a command is never split.',
    ),
    batchBytesMax: count(
      1,
      16 * MIB,
      'Maximum size of one log entry, in bytes. An entry can exceed this limit, because a command is never split.',
    ),
    importLinesMax: count(1, 100_000_000, 'Maximum number of lines in one import.'),
  }),
});

export type Settings = TypeOf<typeof settingsSchema>;
