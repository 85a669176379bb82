import { object, string } from '../base/json-schema.js';
import type { AdminDeps, ClusterRefusal, ClusterService } from './admin-deps.js';
import { answer } from './openapi.js';
import { badRequest, Problem } from './problem.js';
import { type Route, route } from './route.js';
import { exactly, list, ref } from './schemas.js';

const NODE_LENGTH_MAX = 256;
const node = string({ minLength: 1, maxLength: NODE_LENGTH_MAX, message: 'must be the name of a node' });
const SHARD = /^\d{1,4}$/;

const REFUSALS: Readonly<Record<ClusterRefusal, (node: string) => Problem>> = {
  'no-such-node': (node) => new Problem(404, `the cluster has no node ${node}`, 'no-such-node'),
  'node-takes-none': (node) =>
    new Problem(
      409,
      `the node ${node} accepts no shards: it is draining, gone, or uses a different archive from the other nodes`,
      'node-takes-none',
    ),
  'table-has-changed': () =>
    new Problem(
      409,
      'the shard assignment has changed in the meantime: check it, and repeat the request',
      'table-has-changed',
    ),
};

/** Routes for the cluster's nodes: their state, and commands for them. */
export function clusterRoutes({ cluster, service, log }: AdminDeps): Route[] {
  const draining = (command: 'drain' | 'undrain', operationId: string, summary: string) =>
    route('POST', `/v1/cluster/nodes/{node}/${command}`, {
      operationId,
      tag: 'cluster',
      summary,
      params: object({ node }),
      responses: { 200: answer('The request is recorded; the shards move one by one', ref('Cluster')) },
      problems: [400, 403, 404, 409, 413, 415],
      handle: async ({ params: { node }, operator: by }) => {
        const joined = mustJoined();
        refuse(await inTime(joined.drain(node, command === 'drain')), node);
        log.info({ node, by, request: command }, 'operator request for a node');
        return mustStatus(joined);
      },
    });

  return [
    route('GET', '/v1/cluster', {
      operationId: 'readCluster',
      isForMonitors: true,
      tag: 'cluster',
      summary: 'The nodes that share the shards, as seen by this node',
      responses: { 200: answer('Nodes, shards and the shard assignment', ref('Cluster')) },
      problems: [404],
      handle: async () => mustStatus(mustJoined()),
    }),
    route('GET', '/v1/cluster/moves', {
      operationId: 'listMoves',
      isForMonitors: true,
      tag: 'cluster',
      summary: 'Moves of shards between nodes, newest first, that this node has seen since it joined',
      responses: { 200: answer('The newest moves', exactly({ moves: list(ref('ClusterMove')) })) },
      problems: [404],
      handle: async () => ({
        moves: mustJoined().moves.map(({ timeMs, ...move }) => ({ ...move, timeMillis: timeMs })),
      }),
    }),
    draining('drain', 'drainNode', 'Drains a node: its shards move to other nodes, and it gets no new ones'),
    draining('undrain', 'undrainNode', 'Undrains a node: it may own shards again'),
    route('POST', '/v1/cluster/shards/{shard}/move', {
      operationId: 'moveShard',
      tag: 'cluster',
      summary: 'Moves a shard to a node',
      params: object({ shard: string({ description: 'A whole number.' }) }),
      body: object({ node }, {}, { additionalProperties: false }),
      responses: { 200: answer('The request is recorded; the shard moves shortly', ref('Cluster')) },
      problems: [400, 403, 404, 409, 413, 415],
      handle: async ({ params, body: { node }, operator }) => {
        const joined = mustJoined();
        const shard = Number(params.shard);
        if (!SHARD.test(params.shard)) throw badRequest('shard must be a whole number');
        if (shard >= service.shardCount) {
          throw new Problem(
            404,
            `there is no shard ${shard}: shards are numbered 0 to ${service.shardCount - 1}`,
            'not-found',
          );
        }
        refuse(await inTime(joined.moveShard(shard, node, operator.name)), node);
        log.info({ shard, node, by: operator }, 'operator assigned a shard to a node');
        return mustStatus(joined);
      },
    }),
  ];

  function mustJoined(): ClusterService {
    if (cluster !== undefined) return cluster;
    throw new Problem(404, 'this node is alone: cluster.port is not set', 'not-clustered');
  }
}

function mustStatus({ status }: ClusterService): object {
  if (status !== undefined) return status;
  throw new Problem(503, 'the membership registry has not answered yet', 'starting');
}

function refuse(refusal: ClusterRefusal | undefined, node: string): void {
  if (refusal !== undefined) throw REFUSALS[refusal](node);
}

/** Maps an outage of the membership registry to a 503. */
function inTime(answered: Promise<ClusterRefusal | undefined>): Promise<ClusterRefusal | undefined> {
  return answered.catch((error: Error) => {
    throw new Problem(503, `the membership registry does not answer: ${error.message}`, 'table-away');
  });
}
