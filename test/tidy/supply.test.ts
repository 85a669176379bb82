import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const read = (file: string) => readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8');

interface Locked {
  readonly integrity?: string;
  readonly link?: true;
}

test('every package in the lock file has an integrity hash', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Readonly<Record<string, Locked>> };
  const bare = Object.entries(packages).filter(([path, { integrity, link }]) => {
    return path !== '' && link !== true && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '');
  });
  assert.deepEqual(
    bare.map(([path]) => path),
    [],
  );
});

test('every image stage uses the base image pinned by one argument', () => {
  const dockerfile = read('Dockerfile');
  assert.equal(dockerfile.match(/^FROM /gm)?.length, dockerfile.match(/^FROM \$\{NODE_IMAGE\}/gm)?.length);
  assert.match(dockerfile, /^ARG NODE_IMAGE=node:22-bookworm-slim(@sha256:[0-9a-f]{64})?$/m);
});
