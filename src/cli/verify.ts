import type { Command } from 'commander';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { readerFormats } from '../node/settings/reader-of.js';
import { framesOfFile, framesOnce } from '../tools/backup/backup-reader.js';
import { ToolError } from '../tools/store-reader.js';
import type { StoreBooks } from '../tools/verify/books.js';
import { OperatorApi } from '../tools/verify/operator-api.js';
import { reportJson } from '../tools/verify/report-json.js';
import { type ShardReport, type VerifyReport, verify } from '../tools/verify/verify.js';
import { verifyFrames } from '../tools/verify/verify-frames.js';
import { formatSum, type ScaleTable } from '../wallet/amount.js';
import { LEDGER_KINDS } from '../wallet/ledger-kind.js';
import { backupInput, IDENTITY_OPTION } from './backup-input.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { readNoted } from './noted-audit.js';
import { isoTime, plural } from './print/format.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { formatTable } from './print/table.js';
import { findRunningServer, tokenForTools } from './running-server.js';
import { isStoreAddress, STORE_ADDRESS_HELP } from './store-address.js';
import { type ReadStore, STORE_OPTION, withStoreToRead } from './with-store.js';

interface VerifyOptions extends OutputOptions {
  readonly deep?: true;
  readonly store?: string | undefined;
  readonly identity?: string;
  readonly noted?: string;
  /** False if --no-server is given. */
  readonly server?: string | false;
}

/** Number of currency columns that fit on a terminal. */
const CURRENCIES_PER_TABLE = 5;

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description(
      'check a store or a backup: logs, snapshots, wallets, books, and the balances of a running server; changes nothing',
    )
    .argument('[backup]', 'a backup file, a folder of --rotate, or - for a pipe, instead of a store')
    .option(...IDENTITY_OPTION)
    .option('--deep', 'replay from the oldest entry or snapshot, and check every snapshot against the replay')
    .option('--server <url>', 'operator API to compare with (default: from the settings, if it answers)', parseServer)
    .option('--no-server', 'do not compare with a server')
    .option('--noted <file>', 'an earlier output of verify --json: the audit chain of each shard has to continue it')
    .option('--json', 'print one JSON object instead of tables')
    .option(...STORE_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [STORE_ADDRESS_HELP, 'A backup is always replayed completely, and never compared with a server.'],
        exitCodes: `\
${EXIT.ok} no differences, ${EXIT.failure} differences, or the check failed;
${EXIT.cutOff} no differences, but the last segment of the backup was cut off.`,
        examples: [
          'walletd verify --deep --store lmdb:/var/lib/walletd --no-server',
          'walletd verify /var/backups/wallets-2026-01-31',
        ],
      }),
    )
    .action((backup: string | undefined, options: VerifyOptions) => {
      const isBackup = backup !== undefined && !isStoreAddress(backup);
      if (backup !== undefined && options.store !== undefined) throw new ConfigError('name either a store or a backup');
      const verifying = isBackup ? verifyBackup(backup, options) : verifyStore({ store: backup, ...options });
      return conclude(verifying, options);
    });
}

async function verifyBackup(from: string, options: VerifyOptions): Promise<Outcome> {
  const noted = options.noted === undefined ? undefined : readNoted(options.noted);
  const { source, whole } = await backupInput(from, undefined, options);
  const progress = new Progress('Verifying', !options.json);
  let part = whole;
  const frames =
    whole === undefined
      ? framesOnce(source, {
          onEnd: (found) => {
            part = found;
          },
        })
      : framesOfFile(source, whole, progress.update);
  const report = await verifyFrames(frames, readerFormats, noted?.heads).finally(() => progress.stop());
  const { formats, findings, newestMs, copiedMs } = report;
  noted?.mustBeOf(formats.storeId);
  const shown = { name: source.name, meta: { storeId: formats.storeId }, reader: formats };
  const cutBytes = part?.cutBytes ?? 0;
  const facts = {
    time: newestMs === undefined ? null : isoTime(newestMs),
    copied: isoTime(copiedMs),
    segments: part?.segments,
    cutBytes,
  };
  const asOf = newestMs === undefined ? 'It has no entries' : `Its newest entry is from ${isoTime(newestMs)}`;
  const cut = cutBytes === 0 ? '' : `\nIts last segment was cut off: ${plural(cutBytes, 'byte')} do not count.`;
  return {
    text: () => `${textOf(report, shown, undefined)}\n${asOf}; it was copied at ${isoTime(copiedMs)}.${cut}`,
    json: () => [{ ...jsonOf(report, shown, undefined), ...facts }],
    exitCode: findings.total > 0 ? EXIT.failure : cutBytes > 0 ? EXIT.cutOff : EXIT.ok,
  };
}

/** The context in which a report is printed. */
interface Shown {
  readonly name: string;
  readonly meta: { readonly storeId: string };
  readonly reader: { readonly scales: ScaleTable };
}

async function verifyStore(options: VerifyOptions): Promise<Outcome> {
  const noted = options.noted === undefined ? undefined : readNoted(options.noted);
  return await withStoreToRead(
    options.store,
    new Progress('Verifying'),
    async (opened) => {
      const server = await serverOf(opened, options);
      const { reader, progress } = opened;
      noted?.mustBeOf(opened.meta.storeId);
      const report = await verify(reader, {
        isDeep: options.deep === true,
        server,
        noted: noted?.heads,
        onProgress: progress.update,
      });
      return {
        text: () => textOf(report, opened, server),
        json: () => [jsonOf(report, opened, server)],
        exitCode: report.findings.total === 0 ? EXIT.ok : EXIT.failure,
      };
    },
    'examine',
  );
}

function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isUsable) {
    throw new ConfigError(
      '--server must be an address such as http://127.0.0.1:3001; its token comes from admin.token',
    );
  }
  return text.replace(/\/+$/, '');
}

/**
 * The server to compare with. The configured server is used only for the configured store, because it serves no other.
 */
async function serverOf(
  { settings, meta }: ReadStore,
  { server, store }: VerifyOptions,
): Promise<OperatorApi | undefined> {
  if (server === false) return undefined;
  if (server !== undefined) return await serverAt(server, settings, meta.storeId);
  if (store !== undefined) return undefined;
  return await findRunningServer(settings, meta.storeId);
}

async function serverAt(url: string, settings: Settings, storeId: string): Promise<OperatorApi> {
  const api = new OperatorApi(url, tokenForTools(settings));
  const served = (await api.store())?.storeId;
  if (served === undefined || served === storeId) return api;
  throw new ToolError(`the server at ${url} serves a different store: ${served}, not ${storeId}`);
}

function textOf(report: VerifyReport, { name, reader, meta }: Shown, server: OperatorApi | undefined): string {
  const { shards, books, findings } = report;
  return [
    `Store ${name}, id ${meta.storeId}\n`,
    formatTable(SHARD_COLUMNS, shards.map(shardRow)),
    `\n${booksTables(books, reader.scales).join('\n\n')}\n`,
    auditSentence(shards),
    serverSentence(shards, server),
    ...shards.flatMap(({ accepted }) => accepted.map(printable)),
    ...findingLines(findings),
  ].join('\n');
}

function findingLines({ total, listed }: VerifyReport['findings']): string[] {
  if (total === 0) return ['Nothing differs.'];
  const more = total - listed.length;
  return [
    `\n${total} found:`,
    ...listed.map(({ type, message }) => `  ${type}: ${printable(message)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
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
  'relies on',
  'archive has',
];

function shardRow(report: ShardReport): string[] {
  const { shard, first, lsn, entries, events, players, snapshots, base, logMark, archiveMark } = report;
  const replayed = base === undefined || base === 'genesis' ? (base ?? '-') : `snapshot ${base}`;
  return [
    ...[shard, first ?? '-', lsn, entries, events, players, snapshots].map(String),
    replayed,
    logMark ?? '-',
    archiveMark ?? '-',
  ];
}

/** Formats tables with one column per currency and one row per reason for moving money. */
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

function auditSentence(shards: readonly ShardReport[]): string {
  const operations = shards.reduce((sum, { audit }) => sum + (audit?.count ?? 0), 0);
  return `Audit chains: ${plural(operations, 'operation')}; --json shows their heads.`;
}

function serverSentence(shards: readonly ShardReport[], server: OperatorApi | undefined): string {
  if (server === undefined) return 'Not compared with a running server.';
  const sum = (count: (report: ShardReport) => number | undefined) =>
    shards.reduce((all, report) => all + (count(report) ?? 0), 0);
  const movedOn = sum((report) => report.movedOn);
  const passed = movedOn === 0 ? '' : `; ${movedOn} more had changed in the meantime and could not be compared`;
  const compared = plural(
    sum((report) => report.compared),
    'player',
  );
  return `Compared with ${server.url}: the balances of ${compared}${passed}.`;
}

function jsonOf(report: VerifyReport, { name, meta, reader }: Shown, server: OperatorApi | undefined): object {
  const { clean, ...rest } = reportJson(report, reader.scales);
  return { store: name, storeId: meta.storeId, clean, server: server?.url ?? null, ...rest };
}
