import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { inTempFolder } from '../support/temp-folder.js';
import { findHeldBy, openFilesOf } from './held.js';

test("a socket or a foreign file counts as held, and a store's file does not", async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  await inTempFolder(async (folder) => {
    const store = `${folder}/store`;
    mkdirSync(store);
    const count = () => findHeldBy(process.pid, store)?.descriptors ?? 0;
    const own = openSync(`${store}/2026-11-29.mdb`, 'w');
    const before = count();
    const ownToo = openSync(`${store}/2026-11-30.mdb`, 'w');
    assert.equal(count(), before);
    const foreign = openSync(`${folder}/foreign`, 'w');
    assert.equal(count(), before + 1);
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    assert.ok(count() > before + 1);
    assert.ok(openFilesOf(process.pid).includes(`1 ${store}/2026-11-29.mdb`));
    for (const descriptor of [own, ownToo, foreign]) closeSync(descriptor);
    await new Promise((closed) => server.close(closed));
  });
});
