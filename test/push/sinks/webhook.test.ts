import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DeadLetters } from '../../../src/push/dead-letters.js';
import { Stopped } from '../../../src/push/retry.js';
import { WebhookSink } from '../../../src/push/sinks/webhook.js';
import { signedHeaders } from '../../../src/push/webhook-signature.js';
import { makeTempFolder } from '../../support/temp-folder.js';
import { eventOf, VirtualRetries } from '../fakes.js';

const KEYS = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const NOW_MS = 1_700_000_000_500;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks, whose answer to the n-th request of an event is `statusOf`. */
async function startReceiver(t: TestContext, statusOf: (id: string, attempt: number) => number) {
  const received: Received[] = [];
  const server: Server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    received.push({ headers: request.headers, body });
    const id = request.headers['webhook-id'] as string;
    response.writeHead(statusOf(id, received.filter(({ headers }) => headers['webhook-id'] === id).length)).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
  return { url, received, close: () => server.closeAllConnections() };
}

function sinkTo(t: TestContext, url: URL, bytesMax?: number) {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  const file = join(folder.path, 'refused');
  const retries = new VirtualRetries();
  const sink = new WebhookSink({
    url,
    keys: KEYS,
    parallel: 2,
    deadLetters: new DeadLetters(file, bytesMax),
    retry: retries.retry('sink'),
    now: () => NOW_MS,
    log: retries.log,
  });
  t.after(() => sink.close());
  return { sink, retries, file };
}

test('each event is posted as one signed CloudEvent', async (t) => {
  const { url, received } = await startReceiver(t, () => 204);
  const { sink } = sinkTo(t, url);
  const events = [1, 2, 3].map((index) => eventOf('änna', index));
  await sink.send(events);
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body)),
    events,
  );
  for (const { headers, body } of received) {
    const id = JSON.parse(body).id as string;
    const expected = signedHeaders(KEYS, id, 1_700_000_000, body);
    for (const [name, value] of Object.entries(expected)) assert.equal(headers[name], value, name);
    assert.match(String(headers['content-type']), /^application\/cloudevents\+json/);
    assert.match(String(headers['webhook-signature']), /^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
  }
});

test('a receiver that is away delays events and makes no dead letter', async (t) => {
  const { url, received } = await startReceiver(t, (_id, attempt) => (attempt <= 30 ? 503 : 200));
  const { sink, retries, file } = sinkTo(t, url);
  await sink.send([eventOf('anna', 1)]);
  assert.equal(received.length, 31);
  assert.deepEqual(retries.log.lines, ['warn feed-sink-away', 'info sink back']);
  assert.throws(() => statSync(file), { code: 'ENOENT' });
});

test('an event refused ten times becomes a private dead letter, and later events follow', async (t) => {
  const refused = eventOf('anna', 1);
  const later = eventOf('anna', 2);
  const { url, received } = await startReceiver(t, (id) => (id === refused.id ? 422 : 200));
  const { sink, retries, file } = sinkTo(t, url);
  await sink.send([refused, later]);
  assert.equal(received.length, 11);
  assert.deepEqual(retries.log.lines, ['warn feed-dead-letter']);
  assert.equal(readFileSync(file, 'utf8'), `${JSON.stringify(refused)}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a full file of dead letters makes the feed wait', async (t) => {
  const { url } = await startReceiver(t, () => 400);
  const { sink, retries, file } = sinkTo(t, url, 10);
  const { delay } = retries.deps;
  Object.assign(retries.deps, {
    delay: async (ms: number, stop: AbortSignal) => {
      if (retries.log.lines.includes('warn feed-sink-away')) retries.stopping.abort();
      await delay(ms, stop);
    },
  });
  await assert.rejects(sink.send([eventOf('anna', 1)]), Stopped);
  assert.equal(readFileSync(file, 'utf8'), '');
});

test('a redirect is a refusal and is not followed', async (t) => {
  const { url, received } = await startReceiver(t, (_id, attempt) => (attempt === 1 ? 302 : 200));
  const { sink } = sinkTo(t, url);
  await sink.send([eventOf('anna', 1)]);
  assert.equal(received.length, 2);
});
