import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import type { AdminDeps } from '../../src/admin/admin-deps.js';
import type { Problem } from '../../src/admin/problem.js';
import { addRoute } from '../../src/admin/route.js';
import { transactionRoutes } from '../../src/admin/transactions.js';
import { validatorOf } from '../../src/admin/validation.js';
import { systemClock } from '../../src/base/clock.js';
import type { ObjectSchema } from '../../src/base/json-schema.js';
import type { QueryResult } from '../../src/wallet/query.js';

const STEP: QueryResult = { type: 'scan', items: [], next: { position: 1, within: undefined } };
const END: QueryResult = { type: 'scan', items: [], next: undefined };

/** Creates the routes over a single shard, whose answers the test supplies. */
function withShard() {
  const asked: ((result: QueryResult) => void)[] = [];
  let isWanted = true;
  const askShard = () => new Promise<QueryResult>((resolve) => asked.push(resolve));
  const app = fastify();
  app.setErrorHandler((error, _request, reply) =>
    reply.status((error as Problem).status).send((error as Problem).detail),
  );
  const deps = { service: { shardCount: 1, askShard }, settings: {}, clock: systemClock } as unknown as AdminDeps;
  app.setValidatorCompiler<ObjectSchema>(({ schema }) => validatorOf(schema));
  for (const route of transactionRoutes(deps, () => isWanted)) addRoute(app, route);
  const scan = () => app.inject('/v1/transactions').then(({ statusCode }) => statusCode);
  const turns = async () => {
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
  };
  return { asked, scan, turns, unwant: () => (isWanted = false) };
}

test('concurrent scans are limited, because each one visits all players', async () => {
  const { asked, scan, turns } = withShard();
  const first = [scan(), scan(), scan(), scan()];
  await turns();
  assert.equal(await scan(), 503);
  for (const answer of asked) answer(END);
  assert.deepEqual(await Promise.all(first), [200, 200, 200, 200]);
  const next = scan();
  await turns();
  asked.at(-1)?.(END);
  assert.equal(await next, 200, 'room again');
});

test('a scan ends at its next step after its client has disconnected', async () => {
  const { asked, scan, turns, unwant } = withShard();
  const answer = scan();
  await turns();
  unwant();
  asked[0]?.(STEP);
  assert.equal(await answer, 503);
  assert.equal(asked.length, 1);
});
