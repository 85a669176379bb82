import type { Command } from 'commander';
import type { Alert } from '../admin/console/overview.js';
import { loadSettings } from '../config/load.js';
import { readBackup } from '../node/overview/backup-file.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { loadTls } from '../node/settings/tls.js';
import type { Facts, Readiness, ShardReadiness } from '../tools/status/status.js';
import { ToolError } from '../tools/store-reader.js';
import { OperatorApi } from '../tools/verify/operator-api.js';
import { argument } from './argument.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { formatAge, formatAgo, formatBytes } from './print/format.js';
import { formatTable } from './print/table.js';
import { ANSWER_MS, look, operatorApiUrl, tokenForTools } from './running-server.js';

const WORDS = { now: 'WRONG ', soon: 'LOOK  ' } as const;

interface StatusOptions extends OutputOptions {
  readonly server?: string;
  readonly shard?: number;
}

export function addStatus(program: Command): void {
  program
    .command('status')
    .description('show the health of the running server on one screen')
    .option('--server <url>', 'its operator API (default: from the settings); the token is that of admin.token')
    .option(
      '--shard <n>',
      'explain one shard instead: its state, and the event that it waits for',
      argument(parseShard),
    )
    .option('--json', 'print a JSON object instead')
    .addHelpText(
      'after',
      helpText({
        exitCodes:
          `${EXIT.ok} no problems, ${EXIT.failure} a problem, or no answer within five seconds. ` +
          `With --shard: ${EXIT.ok} the shard serves on this node, ${EXIT.failure} it does not.`,
        examples: [
          'walletd status',
          'walletd status --shard 3',
          'walletd status --server http://127.0.0.1:3001 --json',
        ],
      }),
    )
    .action((options: StatusOptions) => conclude(status(options), options));
}

async function status({ server, shard }: StatusOptions): Promise<Outcome> {
  const settings = loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys', 'store']);
  const url = server ?? operatorApiUrl(settings);
  const certificate = server === undefined ? loadTls(settings.admin.tls, 'admin.tls')?.certificate : undefined;
  const api = new OperatorApi(url.replace(/\/$/, ''), tokenForTools(settings), certificate, ANSWER_MS);
  if (shard !== undefined) return explained(await api.readiness(), shard);
  const { facts, troubles } = await look(api, readBackup(settings.backup.metricsFile));
  const isHealthy = troubles.every(({ urgency }) => urgency !== 'now');
  const of = (which: Alert['urgency']) =>
    troubles.filter(({ urgency }) => urgency === which).map(({ what, action }) => `${what} ${action}`);
  return {
    text: () => [headline(facts, url), table(facts), verdict(troubles)].join('\n\n'),
    json: () => [{ isHealthy, problems: of('now'), concerns: of('soon'), ...facts }],
    exitCode: isHealthy ? EXIT.ok : EXIT.failure,
  };
}

function parseShard(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error('it must be the number of a shard, from 0');
  return Number(text);
}

/** The record of one shard. The server hides it from a caller without read access. */
function explained({ shards }: Readiness, shard: number): Outcome {
  const found = shards.find((one) => one.shard === shard);
  if (found === undefined) {
    throw new ToolError(`the server reports ${shards.length} shards, and no shard ${shard}`);
  }
  return {
    text: () => shardText(found),
    json: () => [found],
    exitCode: found.state === 'serving' ? EXIT.ok : EXIT.failure,
  };
}

function shardText({ shard, state, reason, lsn, players, replica }: ShardReadiness): string {
  if (replica === undefined) return `Shard ${shard} is ${state}. This walletd does not explain its shards.`;
  const { sinceMillis, waitsFor, next, nextMillis } = replica;
  const time = (ms: number) => new Date(ms).toISOString();
  const problem = reason ?? replica.problem;
  return formatTable(
    ['', ''],
    [
      ['shard', String(shard)],
      ['state', `${replica.state} since ${time(sinceMillis)}`],
      ['waits for', waitsFor ?? 'nothing'],
      [
        'next',
        next === null || nextMillis === null ? 'nothing on its own' : `${next}, ${time(nextMillis)} at the latest`,
      ],
      ...(problem === null ? [] : [['problem', problem]]),
      ['log', `${lsn ?? 'not read'}, ${number(players ?? 0)} players in memory`],
    ],
  ).replace(/^\s*\n/, '');
}

function headline({ version, node, upMs, isReady }: Facts, url: string): string {
  return `walletd ${version} on Node ${node} at ${url}: up for ${formatAge(Math.max(0, upMs))}, ${isReady ? 'ready' : 'not ready'}`;
}

function table(facts: Facts): string {
  const { callbackP99, appendP99, storeBytes, storeFreeBytes, snapshotAgeMs } = facts;
  const archiveId = facts.archiveId === undefined ? '' : `, id ${facts.archiveId}`;
  const rows: string[][] = [
    [
      'callbacks',
      `${number(facts.callbacks)} since the start, ${number(facts.callbacksBusy)} of them 503`,
      callbackP99 === undefined ? '' : `99 % within ${milliseconds(callbackP99)}`,
    ],
    ['connections', number(facts.connections), ''],
    ['shards', `${facts.shardsServing} of ${facts.shards} serve`, `${number(facts.players)} players`],
    [
      'store',
      facts.isStoreUp ? 'answers' : 'DOES NOT ANSWER',
      [
        ...(storeBytes === undefined ? [] : [`${formatBytes(storeBytes)} used`]),
        ...(storeFreeBytes === undefined ? [] : [`${formatBytes(storeFreeBytes)} free`]),
      ].join(', '),
    ],
    [
      'appends',
      `${number(facts.entriesNotDurable)} entries not durable yet, ${number(facts.appendFailures)} failures since the start`,
      appendP99 === undefined ? '' : `99 % within ${milliseconds(appendP99)}`,
    ],
    [
      'snapshots',
      snapshotAgeMs === undefined ? 'none yet' : `the oldest ${formatAgo(snapshotAgeMs)}`,
      `up to ${number(facts.entriesWithoutSnapshot)} entries behind`,
    ],
    [
      'archive',
      facts.isArchiveUp === undefined ? 'none here' : facts.isArchiveUp ? 'answers' : 'DOES NOT ANSWER',
      facts.isArchiveUp === undefined ? '' : `${number(facts.archivedNames)} names${archiveId}`,
    ],
    [
      'memory',
      `records ${formatBytes(facts.recordBytes)} of ${formatBytes(facts.recordBytesMax)}`,
      `fullest heap ${Math.round(facts.heapShare * 100)} %, ${formatBytes(facts.residentBytes)} resident`,
    ],
    ...(facts.cluster === undefined
      ? []
      : [['nodes', `${facts.cluster.up} up`, facts.cluster.missing.map((name) => `${name} MISSING`).join(', ')]]),
    ...facts.certificates.map(({ listener, endsMs }) => [
      'certificate',
      `of ${listener}`,
      `ends ${new Date(endsMs).toISOString()}`,
    ]),
    ['last exit', facts.lastExit, ''],
  ];
  return formatTable(['', '', ''], rows).replace(/^\s*\n/, '');
}

function verdict(alerts: readonly Alert[]): string {
  if (alerts.length === 0) return 'All is well.';
  return alerts.map(({ urgency, what, action }) => `${WORDS[urgency]} ${what} ${action}`).join('\n');
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

/** Formats the upper bound of a histogram bucket. */
function milliseconds(seconds: number): string {
  return Number.isFinite(seconds) ? `${seconds * 1000} ms` : 'more than 10 s';
}
