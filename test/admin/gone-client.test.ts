import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const REQUESTS = [
  ['POST', '/v1/players:import', 'application/x-ndjson', '{"id":"o","username":"ann","currency":"THB","balance":1}\n'],
  ['GET', '/v1/players:find?username=a', 'application/json', ''],
] as const;

test('a client that disconnects before a streamed answer is no failure of the API', async () => {
  const node = await TestNode.start();
  try {
    for (const [method, path, type, body] of REQUESTS) {
      for (let turns = 0; turns < 20; turns++) {
        const socket = connect(Number(new URL(node.adminUrl).port), '127.0.0.1');
        await once(socket, 'connect');
        const length = Buffer.byteLength(body);
        socket.write(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n`);
        socket.write(`Content-Length: ${length}\r\n\r\n${body}`);
        for (let i = 0; i < turns; i++) await turn();
        socket.resetAndDestroy();
      }
    }
    await until('a request was aborted', async () => {
      const text = await (await fetch(`${node.adminUrl}/metrics`)).text();
      return /^walletd_operator_requests_total\{[^}]*aborted/m.test(text);
    });
  } finally {
    await node.close();
  }
  assert.deepEqual(
    node.logLines.filter(({ code }) => code === 'operator-api-failed'),
    [],
  );
});
