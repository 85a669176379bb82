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

const dockerfile = read('Dockerfile');

test('every image stage uses the base image pinned by one argument', () => {
  assert.equal(dockerfile.match(/^FROM /gm)?.length, dockerfile.match(/^FROM \$\{NODE_IMAGE\}/gm)?.length);
  assert.match(dockerfile, /^ARG NODE_IMAGE=node:22\.\d+\.\d+-trixie-slim@sha256:[0-9a-f]{64}$/m);
});

test('the image runs as a user without rights and names its version and commit', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  assert.equal(/^USER (\w+)$/m.exec(dockerfile)?.[1], 'node');
  assert.ok(dockerfile.includes(`org.opencontainers.image.version=${version} `));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Dockerfile
  assert.ok(dockerfile.includes('org.opencontainers.image.revision=${REVISION}'));
});

test('the image lists its packages and checks its health twice a minute', () => {
  assert.match(dockerfile, /npm sbom --omit=dev --sbom-format=cyclonedx >sbom\.json \\\n +&& npm prune /);
  assert.match(dockerfile, /^HEALTHCHECK --interval=30s .*--start-interval=\d+s CMD \["node", /m);
});

test('manifests and pages name the image and the package of this version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const files = [
    'config/compose.yaml',
    'config/kubernetes/init.yaml',
    'config/kubernetes/statefulset.yaml',
    'docs/operations.md',
  ];
  for (const file of files) {
    const named = [...read(file).matchAll(/\bwalletd[:-](\d+\.\d+\.\d+)\b/g)].map(([, one]) => one);
    assert.ok(named.length > 0, file);
    assert.deepEqual([...new Set(named)], [version], file);
  }
});
