import type { Command } from 'commander';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';
import { EXIT } from '../node/exit-codes.js';
import { ToolError } from '../tools/store-reader.js';
import { LEDGER_KINDS, type StoreBooks } from '../tools/verify/books.js';
import { OperatorApi } from '../tools/verify/operator-api.js';
import { type ShardReport, type VerifyReport, verify } from '../tools/verify/verify.js';
import { formatSum, type ScaleTable } from '../wallet/amount.js';
import { plural } from './print/format.js';
import { formatTable, printable } from './print/table.js';
import { type ReadStore, readsStore, withStoreToRead } from './read-store.js';
import { maybeRunningServer, tokenForTools } from './running-server.js';

interface VerifyOptions {
  readonly deep?: true;
  readonly store?: string;
  /** False: none is wanted. */
  readonly server?: string | false;
  readonly json?: true;
}

/** More than these beside each other do not fit a terminal. */
const CURRENCIES_PER_TABLE = 5;

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('check a store: logs, snapshots, wallets, books, and what a running server holds; changes nothing')
    .option('--deep', 'replay from the oldest place there is, and prove every snapshot against it')
    .option(
      '--server <url>',
      'operator API to compare with (default: that of the settings, if it answers)',
      parseServer,
    )
    .option('--no-server', 'compare with no server')
    .option('--json', 'print the result for scripts')
    .addHelpText(
      'after',
      `\nExit codes: ${EXIT.ok} nothing differs, ${EXIT.failure} something does, or it could not be checked.`,
    )
    .action(async (options: VerifyOptions) => {
      process.exitCode = await withStoreToRead(options.store, 'Verifying', (opened) => run(opened, options));
    });
  readsStore(command, 'walletd verify --deep --store lmdb:/var/lib/walletd --no-server');
}

async function run(opened: ReadStore, options: VerifyOptions): Promise<number> {
  const server = await serverOf(opened, options);
  const { reader, progress } = opened;
  const report = await verify(reader, { isDeep: options.deep === true, server, onProgress: progress.update });
  progress.stop();
  if (options.json) console.log(JSON.stringify(toJson(report, opened, server)));
  else print(report, opened, server);
  return report.findings.total === 0 ? EXIT.ok : EXIT.failure;
}

/** Without what fetch refuses, and would print. */
function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOne = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isOne) throw new ConfigError('--server is an address as http://127.0.0.1:3001; its token is admin.token');
  return text.replace(/\/+$/, '');
}

/** Of another store than that of the settings the running server knows nothing. */
async function serverOf(
  { settings, meta }: ReadStore,
  { server, store }: VerifyOptions,
): Promise<OperatorApi | undefined> {
  if (server === false) return undefined;
  if (server !== undefined) return await serverAt(server, settings, meta.storeId);
  if (store !== undefined) return undefined;
  return await maybeRunningServer(settings, meta.storeId);
}

async function serverAt(url: string, settings: Settings, storeId: string): Promise<OperatorApi> {
  const api = new OperatorApi(url, tokenForTools(settings));
  const served = await api.storeId();
  if (served === undefined || served === storeId) return api;
  throw new ToolError(`the server at ${url} serves another store: ${served}, not ${storeId}`);
}

function print(report: VerifyReport, { name, reader, meta }: ReadStore, server: OperatorApi | undefined): void {
  const { shards, books, findings } = report;
  console.log(`Store ${name}, id ${meta.storeId}\n`);
  console.log(formatTable(SHARD_COLUMNS, shards.map(shardRow)));
  console.log(`\n${booksTables(books, reader.scales).join('\n\n')}\n`);
  console.log(serverSentence(shards, server));
  for (const { accepted } of shards) for (const what of accepted) console.log(printable(what));
  if (findings.total === 0) {
    console.log('Nothing differs.');
    return;
  }
  const more = findings.total - findings.listed.length;
  console.log(`\n${findings.total} found:`);
  for (const { type, message } of findings.listed) console.log(`  ${type}: ${printable(message)}`);
  if (more > 0) console.log(`  and ${more} more`);
}

const SHARD_COLUMNS = [
  { right: 'shard' },
  'log from',
  'to',
  { right: 'entries' },
  { right: 'events' },
  { right: 'players' },
  { right: 'snapshots' },
  'replayed from',
];

function shardRow(report: ShardReport): string[] {
  const { shard, first, lsn, entries, events, players, snapshots, base } = report;
  const replayed = base === undefined || base === 'genesis' ? (base ?? '-') : `snapshot ${base}`;
  return [...[shard, first ?? '-', lsn, entries, events, players, snapshots].map(String), replayed];
}

/** A column for each currency, a line for each reason why money moved. */
function booksTables(books: StoreBooks, scales: ScaleTable): string[] {
  const all = books.all();
  const tables: string[] = [];
  for (let i = 0; i < all.length; i += CURRENCIES_PER_TABLE) {
    const some = all.slice(i, i + CURRENCIES_PER_TABLE);
    const line = (name: string, units: (books: (typeof some)[number][1]) => bigint) => [
      name,
      ...some.map(([currency, one]) => formatSum(units(one), scales.of(currency))),
    ];
    const columns = ['books', ...some.map(([currency]) => ({ right: currency }))];
    tables.push(
      formatTable(columns, [
        ['players', ...some.map(([, { players }]) => String(players))],
        line('opening', ({ opening }) => opening),
        ...LEDGER_KINDS.map((kind) => line(kind, ({ moved }) => moved.get(kind) ?? 0n)),
        line('balances', ({ balances }) => balances),
        line('difference', ({ difference }) => difference),
      ]),
    );
  }
  return tables;
}

function serverSentence(shards: readonly ShardReport[], server: OperatorApi | undefined): string {
  if (server === undefined) return 'Not compared with a running server.';
  const sum = (count: (report: ShardReport) => number | undefined) =>
    shards.reduce((all, report) => all + (count(report) ?? 0), 0);
  const movedOn = sum((report) => report.movedOn);
  const passed = movedOn === 0 ? '' : `; ${movedOn} more had played on before the newest snapshot`;
  const compared = plural(
    sum((report) => report.compared),
    'player',
  );
  return `Compared with ${server.url}: the balances of ${compared}${passed}.`;
}

function toJson(
  { shards, books, findings }: VerifyReport,
  { name, meta, reader }: ReadStore,
  server: OperatorApi | undefined,
) {
  const decimals = (units: bigint, currency: string) => formatSum(units, reader.scales.of(currency));
  return {
    store: name,
    storeId: meta.storeId,
    clean: findings.total === 0,
    server: server?.url ?? null,
    shards,
    books: Object.fromEntries(
      books.all().map(([currency, { players, opening, moved, balances, difference }]) => [
        currency,
        {
          players,
          opening: decimals(opening, currency),
          ...Object.fromEntries(LEDGER_KINDS.map((kind) => [kind, decimals(moved.get(kind) ?? 0n, currency)])),
          balances: decimals(balances, currency),
          difference: decimals(difference, currency),
        },
      ]),
    ),
    found: findings.all(),
    findings: findings.listed,
  };
}
