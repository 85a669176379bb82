import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadUws } from '../../src/http/uws.js';

const TOO_OLD = `This version of uWS.js supports only Node.js versions 22, 24 and 26 on (glibc) Linux.

Error: libc.so.6: version 'GLIBC_2.38' not found (required by uws.node)
Require stack:
- uws.js`;

const none = (name: string, message: string) => ({ name, load: () => Promise.reject(new Error(message)) });
const some = (name: string) => ({ name, load: () => Promise.resolve({}) });

test('callbacks are served by the newest package whose binary loads', async () => {
  const nameOf = async (packages: Parameters<typeof loadUws>[0]) => {
    const loaded = await loadUws(packages);
    return 'library' in loaded ? loaded.library.name : undefined;
  };
  assert.equal(await nameOf([some('new'), some('old')]), 'new');
  assert.equal(await nameOf([none('new', TOO_OLD), some('old')]), 'old');
  assert.equal(await nameOf([none('new', TOO_OLD), none('old', TOO_OLD)]), undefined);
});

test('the cause of a failed load is not hidden by a message about Node', async () => {
  const loaded = await loadUws([none('new', TOO_OLD), none('old', "Cannot find module './uws_linux_x64_137.node'")]);
  assert.deepEqual(loaded, {
    causes: [
      "new: libc.so.6: version 'GLIBC_2.38' not found (required by uws.node)",
      "old: Cannot find module './uws_linux_x64_137.node'",
    ],
  });
});
