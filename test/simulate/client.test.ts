import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { Client } from '../../src/simulate/client.js';
import { until } from '../support/until.js';

const TIMEOUT_MS = 60_000;
const SHORT_MS = 300;
const LATE = `no answer in ${SHORT_MS} ms`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';

/**
 * Runs `run` with a client of a server that calls `answer` whenever data arrives. `connections` returns the number of
 * connections so far.
 */
async function at(
  answer: (socket: Socket) => void,
  run: (client: Client, connections: () => number) => Promise<void>,
  timeoutMs = TIMEOUT_MS,
) {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('data', () => answer(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const client = new Client(`http://127.0.0.1:${port}`, timeoutMs, undefined);
  try {
    await run(client, () => connections);
  } finally {
    client.close();
    server.close();
  }
}

test('connections are reused, with one connection per concurrent request', async () => {
  await at(
    (socket) => socket.write(OK),
    async (client, connections) => {
      for (let n = 0; n < 3; n++) {
        const replies = await Promise.all([client.post('/a', '{}'), client.post('/b', '{}')]);
        assert.deepEqual(
          replies.map(({ status }) => status),
          [200, 200],
        );
      }
      assert.equal(connections(), 2);
    },
  );
});

test('requests beyond the connection limit are all answered', async () => {
  await at(
    (socket) => socket.write(OK),
    async (client, connections) => {
      const replies = await Promise.all(Array.from({ length: 1500 }, () => client.post('/a', '{}')));
      assert.ok(replies.every(({ status }) => status === 200));
      assert.equal(connections(), 1024);
    },
  );
});

test('a connection that its server closes after the answer is not reused', async () => {
  await at(
    (socket) => socket.write(OK.replace('Content', 'Connection: close\r\nContent')),
    async (client, connections) => {
      for (let n = 0; n < 3; n++) {
        assert.equal((await client.post('/a', '{}')).status, 200);
      }
      assert.equal(connections(), 3);
    },
  );
});

test('an answer without a length ends with its connection, even in several parts', async () => {
  await at(
    async (socket) => {
      for (const part of ['HTTP/1.1 2', '00 OK\r\n\r\n', '{"a"', ':1}']) {
        socket.write(part);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      socket.end();
    },
    async (client) => assert.deepEqual((await client.post('/a', '{}')).fields, { a: 1 }),
  );
});

test('a missing answer has a reason', async () => {
  const cases: readonly (readonly [answer: (socket: Socket) => void, why: RegExp])[] = [
    [() => {}, /^no answer in 300 ms$/],
    [(socket) => socket.destroy(), /^socket hang up$/],
    [(socket) => socket.end(OK.slice(0, -1)), /^socket hang up$/],
    [(socket) => socket.write('no HTTP\r\n\r\n'), /^the answer is not of HTTP/],
  ];
  for (const [answer, why] of cases) {
    await at(
      answer,
      async (client) => {
        const reply = await client.post('/a', '{}');
        assert.equal(reply.status, undefined);
        assert.match(reply.why ?? '', why);
      },
      why.test(LATE) ? SHORT_MS : TIMEOUT_MS,
    );
  }
});

test('a cut-off request is delivered, and its connection is closed', async () => {
  const seen: Socket[] = [];
  await at(
    (socket) => seen.push(socket),
    async (client) => {
      await client.cut('/a', '{}');
      await until('the connection is closed', () => seen[0]?.destroyed);
    },
  );
});
