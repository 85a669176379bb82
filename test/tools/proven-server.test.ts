import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { test } from 'node:test';
import { localAddressOf, PROOF_PATH, TokenProof } from '../../src/listener/token-proof.js';
import { OperatorApi } from '../../src/tools/verify/operator-api.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';

const TOKEN = 'a-token-of-operators-alone';

/** Starts a program that listens in walletd's place and records everything that it receives. */
async function impostor(
  answer: RequestListener,
): Promise<{ url: string; port: string; seen: () => string; close(): void }> {
  const server: Server = createServer(answer);
  let seen = '';
  server.on('connection', (socket) => {
    socket.on('data', (data) => {
      seen += data.toString('latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, port, seen: () => seen, close };
}

const answers: Readonly<Record<string, RequestListener>> = {
  'a page': (_, response) => response.end('<html>'),
  'not found': (_, response) => response.writeHead(404).end('nothing here'),
  unauthorized: (_, response) => response.writeHead(401).end('{"code":"unauthorized","detail":"send a token"}'),
  'an unknown token': (_, response) => response.writeHead(401).end('{"code":"unknown-token","detail":"send a token"}'),
  "the tool's own proof": (request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const { proof = '' } = text === '' ? {} : (JSON.parse(text) as { proof?: string });
      response.end(JSON.stringify({ address: localAddressOf(request.socket), proof, storeId: 'x', shards: [] }));
    });
  },
};

for (const [name, answer] of Object.entries(answers)) {
  test(`a program on the port that answers with ${name} never receives the token`, () =>
    inTempFolder(async (folder) => {
      const other = await impostor(answer);
      const env = {
        WALLETD_STORE: `lmdb:${folder}/data`,
        WALLETD_NODE_FOLDER: `${folder}/node`,
        WALLETD_ADMIN_PORT: other.port,
        WALLETD_ADMIN_TOKEN: TOKEN,
      };
      try {
        await runCommand(['init'], env);
        for (const action of [
          'status',
          'verify',
          'snapshot take',
          'cluster status',
          'cluster drain node-1',
          'doctor',
        ]) {
          await runCommand(action.split(' '), env);
        }
        await runCommand(['verify', '--server', other.url], env);
        await runCommand(['status', '--server', other.url], env);
        assert.match(other.seen(), /POST \/v1\/proof /);
        assert.ok(!other.seen().includes(TOKEN), other.seen());
        assert.doesNotMatch(other.seen(), /authorization/i);
      } finally {
        other.close();
      }
    }));
}

test('an older walletd is reported, with the remedy', async () => {
  const old = await impostor(answers.unauthorized as RequestListener);
  try {
    const { status, stderr } = await runCommand(['status', '--server', old.url], { WALLETD_ADMIN_TOKEN: TOKEN });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /has not proved that it knows the token.* older release cannot do so \(upgrade it, or use TLS\)/,
    );
  } finally {
    old.close();
  }
});

test('a connection without a proof gets no token', async () => {
  const proof = new TokenProof(TOKEN);
  const other = await impostor((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const { nonce } = JSON.parse(text) as { nonce: string };
      const address = localAddressOf(request.socket);
      response.setHeader('Connection', 'close');
      response.end(JSON.stringify({ address, proof: proof.ofServer(nonce, address) }));
    });
  });
  try {
    await assert.rejects(new OperatorApi(other.url, TOKEN).metrics(), /closes each connection after an answer/);
    assert.ok(!other.seen().includes(TOKEN));
  } finally {
    other.close();
  }
});

test('a relay in front of the server gets no token', async () => {
  const node = await TestNode.start({ 'admin.token': TOKEN });
  let seen = '';
  const relay = createTcpServer((socket) => {
    const onward = connect(Number(new URL(node.adminUrl).port), '127.0.0.1');
    socket.on('data', (data) => {
      seen += data.toString('latin1');
    });
    for (const one of [socket, onward]) one.on('error', () => {});
    socket.pipe(onward).pipe(socket);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  try {
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    await assert.rejects(
      new OperatorApi(url, TOKEN).metrics(),
      /was reached at 127\.0\.0\.1:\d+ by a program that listens at/,
    );
    assert.match(seen, /POST \/v1\/proof /);
    assert.ok(!seen.includes(TOKEN));
  } finally {
    relay.close();
    await node.close();
  }
});

test('many concurrent requests reach a server that proves itself', async () => {
  const node = await TestNode.start({ 'admin.token': TOKEN });
  try {
    const api = new OperatorApi(node.adminUrl, TOKEN);
    const texts = await Promise.all(Array.from({ length: 20 }, () => api.metrics()));
    assert.ok(texts.every((text) => text.includes('walletd_')));
    const proofs = /walletd_operator_requests_total\{[^}]*\/v1\/proof[^}]*\} (\d+)/.exec(await api.metrics())?.[1];
    assert.equal(proofs, '20', 'one for each connection');
    await assert.rejects(
      new OperatorApi(node.adminUrl, `${TOKEN}-not`).metrics(),
      /answers 401: no operator has this token/,
    );
  } finally {
    await node.close();
  }
});

test('unknown callers get no proof with which to test guesses', async () => {
  const node = await TestNode.start({ 'admin.token': TOKEN });
  const nonce = 'n'.repeat(43);
  const ask = async (proof: string) => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ nonce, proof });
    const response = await fetch(node.adminUrl + PROOF_PATH, { method: 'POST', headers, body });
    return { status: response.status, answer: (await response.json()) as { proof?: string } };
  };
  try {
    for (let n = 0; n < 10; n++) {
      const { status, answer } = await ask(new TokenProof(`guess-${n}`).ofTool(nonce));
      assert.deepEqual([status, answer.proof], [401, undefined]);
    }
    assert.equal((await ask(new TokenProof('one-guess-more').ofTool(nonce))).status, 429);
    assert.equal((await ask(new TokenProof(TOKEN).ofTool(nonce))).status, 200, 'who knows the token passes');
  } finally {
    await node.close();
  }
});
