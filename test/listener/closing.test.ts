import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type AdminServer, TIMES } from '../../src/admin/admin-server.js';
import { silentLogger } from '../../src/base/logger.js';
import type { CallbackServer } from '../../src/http/callback-server.js';
import { ConnectionCounts } from '../../src/listener/connection-counts.js';
import { ServerGuard } from '../../src/listener/server-guard.js';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { makeCertificate } from '../support/certificate.js';
import { freePort } from '../support/free-port.js';
import { settingsWith } from '../support/settings.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** Longer than any test may take. */
const ENDLESS_MS = 300_000;
const LIMITS = { connectionsMax: 10, perAddressMax: 10 };
const BOUNDED = { timeout: 60_000 };

interface Listeners {
  readonly callbacks: CallbackServer;
  readonly admin: AdminServer;
}

/** A node that has been opened, but not started, so that none of its listeners is open. */
async function openNode(t: TestContext, changes: Record<string, unknown>): Promise<Listeners> {
  const folder = makeTempFolder();
  const fixed = { store: `lmdb:${folder.path}/store`, nodeFolder: `${folder.path}/node`, 'log.level': 'silent' };
  const loaded = { settings: settingsWith({ ...fixed, workers: 0, ...changes }), sources: new Map() };
  const node = await WalletNode.open(loaded, silentLogger, () => {});
  t.after(async () => {
    await node.stop();
    folder.remove();
  });
  return (node as unknown as { parts: Listeners }).parts;
}

/** Connects, and begins a TLS handshake that it never continues. */
async function stranger(t: TestContext, port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(Buffer.from('1603010200', 'hex'));
}

async function mustBeFree(port: number): Promise<void> {
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  other.close();
  await once(other, 'close');
}

test('a closing listener does not wait for an unfinished TLS handshake', BOUNDED, async (t) => {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  const { certificateFile, keyFile } = makeCertificate(folder.path, 'localhost');
  const files = { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
  const server = createSecureServer({ ...files, handshakeTimeout: ENDLESS_MS });
  const counts = new ConnectionCounts();
  const guard = new ServerGuard(server, LIMITS, counts);
  const port = await guard.listen('127.0.0.1', 0);
  await stranger(t, port);
  await until('the stranger is here', () => counts.accepted === 1);
  await guard.close();
  await mustBeFree(port);
});

test('a stop of the operator API does not wait for an unfinished TLS handshake', BOUNDED, async (t) => {
  const usual = { ...TIMES };
  Object.assign(TIMES, { headers: ENDLESS_MS, request: ENDLESS_MS });
  const folder = makeTempFolder();
  t.after(() => {
    Object.assign(TIMES, usual);
    folder.remove();
  });
  const { certificateFile, keyFile } = makeCertificate(folder.path, 'localhost');
  const tls = { 'admin.tls.certificateFile': certificateFile, 'admin.tls.keyFile': keyFile };
  const { admin } = await openNode(t, { 'admin.port': 0, ...tls });
  const port = await admin.listen();
  await stranger(t, port);
  const { counts } = (admin as unknown as { deps: { counts: ConnectionCounts } }).deps;
  await until('the stranger is here', () => counts.accepted === 1);
  await admin.close();
  await mustBeFree(port);
});

test('a listener that is closed while it opens releases its port', BOUNDED, async () => {
  const guard = new ServerGuard(createHttpServer(), LIMITS, new ConnectionCounts());
  const port = await freePort();
  const opening = guard.listen('127.0.0.1', port);
  await guard.close();
  await assert.rejects(opening, /closed/);
  await mustBeFree(port);
});

for (const order of ['before', 'while']) {
  test(`an operator API that is closed ${order} it opens releases its port`, BOUNDED, async (t) => {
    const port = await freePort();
    const { admin } = await openNode(t, { 'admin.port': port });
    const closing = order === 'before' ? admin.close() : undefined;
    await closing;
    const opening = admin.listen();
    await Promise.all([assert.rejects(opening, /closed/), admin.close()]);
    await mustBeFree(port);
  });

  for (const httpLibrary of ['auto', 'node']) {
    test(`callbacks on ${httpLibrary} that are closed ${order} they open release their port`, BOUNDED, async (t) => {
      const port = await freePort();
      const { callbacks } = await openNode(t, { port, httpLibrary, 'admin.port': 0 });
      if (order === 'before') callbacks.close();
      const opening = callbacks.listen();
      callbacks.close();
      await assert.rejects(opening);
      await mustBeFree(port);
    });
  }
}

test('an operator API on localhost is a single, guarded server', BOUNDED, async (t) => {
  const both = [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ];
  t.mock.method(dns, 'lookup', (name: string, ...rest: readonly unknown[]) => {
    const done = rest.at(-1) as (error: null, found: unknown, family?: number) => void;
    if ((rest[0] as { readonly all?: boolean } | undefined)?.all === true) done(null, both);
    else done(null, name === 'localhost' ? '127.0.0.1' : name, 4);
  });
  const { admin } = await openNode(t, { 'admin.host': 'localhost', 'admin.port': 0 });
  const socket = connect(await admin.listen(), '127.0.0.2');
  t.after(() => socket.destroy());
  await assert.rejects(once(socket, 'connect'), /ECONNREFUSED/);
});
