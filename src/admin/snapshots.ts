import { messageOf } from '../base/message-of.js';
import type { AdminDeps } from './admin-deps.js';
import { answer } from './openapi.js';
import { Problem } from './problem.js';
import { type Route, route } from './route.js';
import { exactly, list, ref } from './schemas.js';

/** Routes to list the stored snapshots and to take one on demand. */
export function snapshotRoutes({ service, keptSnapshots }: Pick<AdminDeps, 'service' | 'keptSnapshots'>): Route[] {
  return [
    route('GET', '/v1/snapshots', {
      operationId: 'listSnapshots',
      isForMonitors: true,
      tag: 'operations',
      summary: 'The snapshots of all shards in the store: complete ones newest first, then damaged and unfinished ones',
      responses: { 200: answer('All snapshots', exactly({ snapshots: list(ref('KeptSnapshot')) })) },
      handle: async () => ({
        snapshots: (await inTime(keptSnapshots())).map(({ timeMs, ...snapshot }) => ({
          ...snapshot,
          timeMillis: timeMs,
        })),
      }),
    }),
    route('POST', '/v1/snapshots', {
      operationId: 'takeSnapshots',
      tag: 'operations',
      summary: 'Takes a snapshot of each shard that has changed',
      responses: { 200: answer('The result for each shard', exactly({ snapshots: list(ref('Snapshot')) })) },
      problems: [400, 403, 413, 415],
      handle: async (_request, reply) => {
        // Snapshots can take minutes. This listener keeps Node from closing the silent connection.
        reply.raw.on('timeout', () => {});
        return { snapshots: await service.takeSnapshots() };
      },
    }),
  ];
}

/** Maps an outage of the store to a 503. */
function inTime<T>(answered: Promise<T>): Promise<T> {
  return answered.catch((error: Error) => {
    throw new Problem(503, `the store does not answer: ${messageOf(error)}`, 'store-away');
  });
}
