import type { Command } from 'commander';
import { loadSettings } from '../config/load.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { loadTls } from '../node/settings/tls.js';
import { type ClusterAnswer, OperatorApi } from '../tools/verify/operator-api.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { formatTable } from './print/table.js';
import { operatorApiUrl, tokenForTools } from './running-server.js';

interface ClusterOptions extends OutputOptions {
  readonly server?: string;
}

const SERVER = [
  '--server <url>',
  'operator API of any node (default: from the settings); the token is that of admin.token',
] as const;

export function addCluster(program: Command): void {
  const group = program.command('cluster').description('show and change the nodes of a cluster and their shards');
  const command = (name: string, description: string, help: Parameters<typeof helpText>[0]) =>
    group
      .command(name)
      .description(description)
      .option(...SERVER)
      .option('--json', 'print a JSON object instead')
      .addHelpText('after', helpText(help));

  command('status', 'show nodes, shards and the shard assignment, as one node sees them', {
    exitCodes: `${EXIT.ok} every shard is served, ${EXIT.failure} a shard is not, or no server answers.`,
    examples: ['walletd cluster status'],
  }).action((options: ClusterOptions) => conclude(status(options), options));
  command(
    'drain <node>',
    "transfer a node's shards to other nodes and assign it no new ones, until undrain or its exit",
    {
      notes: [
        'The shards move one after the other: cluster status shows the progress. A node does the same on SIGTERM.',
      ],
      examples: ['walletd cluster drain node-2'],
    },
  ).action((node: string, options: ClusterOptions) => conclude(ask(options, nodePath(node, 'drain')), options));
  command('undrain <node>', 'let a node own shards again', { examples: ['walletd cluster undrain node-2'] }).action(
    (node: string, options: ClusterOptions) => conclude(ask(options, nodePath(node, 'undrain')), options),
  );
  command('move <shard> <node>', 'move a shard to a node and exempt it from balancing', {
    examples: ['walletd cluster move 7 node-2'],
  }).action((shard: string, node: string, options: ClusterOptions) =>
    conclude(ask(options, `/v1/cluster/shards/${encodeURIComponent(shard)}/move`, { node }), options),
  );
}

function nodePath(node: string, action: string): string {
  return `/v1/cluster/nodes/${encodeURIComponent(node)}/${action}`;
}

async function status(options: ClusterOptions): Promise<Outcome> {
  const cluster = await apiOf(options).cluster('GET', '/v1/cluster');
  return {
    ...reportOf(cluster),
    exitCode: cluster.shards.some(({ owner }) => owner === null) ? EXIT.failure : EXIT.ok,
  };
}

async function ask(options: ClusterOptions, path: string, body?: object): Promise<Outcome> {
  return reportOf(await apiOf(options).cluster('POST', path, body));
}

function apiOf({ server }: ClusterOptions): OperatorApi {
  const settings = loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys', 'store']);
  const url = server ?? operatorApiUrl(settings);
  const certificate = server === undefined ? loadTls(settings.admin.tls, 'admin.tls')?.certificate : undefined;
  return new OperatorApi(url.replace(/\/$/, ''), tokenForTools(settings), certificate);
}

function reportOf(cluster: ClusterAnswer): Outcome {
  return { text: () => [nodesOf(cluster), shardsOf(cluster), planOf(cluster)].join('\n\n'), json: () => [cluster] };
}

function nodesOf({ nodes }: ClusterAnswer): string {
  const rows = nodes.map(({ name, state, shards, host, port, zone, version, isThis, isLinked, isFull }) => [
    isThis ? `${name} *` : name,
    [state, ...(isLinked ? [] : ['no link']), ...(isFull ? ['memory full'] : [])].join(', '),
    String(shards),
    `${host}:${port}`,
    zone,
    version,
  ]);
  return formatTable(['node', 'state', { right: 'shards' }, 'address', 'zone', 'version'], rows);
}

function shardsOf({ shards }: ClusterAnswer): string {
  const rows = shards.map(({ shard, owner, planned, followers, lsn }) => [
    String(shard),
    owner ?? 'NOBODY',
    planned === owner ? '' : `to ${planned ?? 'nobody'}`,
    followers.join(', '),
    lsn ?? '',
  ]);
  return formatTable([{ right: 'shard' }, 'owner', 'moves', 'followed by', 'newest entry'], rows);
}

function planOf({ plan, name, seesTable }: ClusterAnswer): string {
  const planned = plan === null ? 'There is no shard assignment yet.' : `Shard assignment: ${plan.why}, by ${plan.by}.`;
  const seen = seesTable ? '' : ' The membership registry does not answer: this is the last known state.';
  return `${planned} As ${name} sees it (*).${seen}`;
}
