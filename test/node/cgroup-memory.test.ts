import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findGroupMemoryLimit } from '../../src/node/settings/cgroup-memory.js';
import { makeTempFolder } from '../support/temp-folder.js';

const V2 = '38 31 0:37 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw';
const V1 = '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory';

function rootWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = makeTempFolder();
  t.after(() => folder.remove());
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${text}\n`);
  }
  return folder.path;
}

test('the lowest limit of a group and its parents applies (cgroup v2)', (t) => {
  const files = {
    'proc/self/mountinfo': V2,
    'proc/self/cgroup': '0::/system.slice/walletd.service',
    'sys/fs/cgroup/system.slice/memory.max': '500000000',
    'sys/fs/cgroup/system.slice/walletd.service/memory.max': 'max',
  };
  assert.equal(findGroupMemoryLimit(rootWith(t, files)), 500_000_000);
  const tighter = { ...files, 'sys/fs/cgroup/system.slice/walletd.service/memory.max': '300000000' };
  assert.equal(findGroupMemoryLimit(rootWith(t, tighter)), 300_000_000);
});

test('the lowest limit of a group and its parents applies (cgroup v1)', (t) => {
  const none = '9223372036854771712';
  const files = {
    'proc/self/mountinfo': `${V1}\n38 31 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw`,
    'proc/self/cgroup': '4:cpuset:/\n3:cpu,memory:/a/b\n0::/',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': none,
    'sys/fs/cgroup/memory/a/memory.limit_in_bytes': '700000000',
    'sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': none,
  };
  assert.equal(findGroupMemoryLimit(rootWith(t, files)), 700_000_000);
});

test('a container sees only the mounted part of the groups', (t) => {
  const files = {
    'proc/self/mountinfo': V1.replace(' / /sys', ' /docker/abc /sys'),
    'proc/self/cgroup': '3:memory:/docker/abc',
    'sys/fs/cgroup/memory/memory.limit_in_bytes': '400000000',
  };
  assert.equal(findGroupMemoryLimit(rootWith(t, files)), 400_000_000);
  const inside = { ...files, 'proc/self/cgroup': '3:memory:/elsewhere' };
  assert.equal(findGroupMemoryLimit(rootWith(t, inside)), 400_000_000);
});

test('without groups or limits there is no limit', (t) => {
  assert.equal(findGroupMemoryLimit(rootWith(t, {})), undefined);
  const files = { 'proc/self/mountinfo': V2, 'proc/self/cgroup': '0::/x', 'sys/fs/cgroup/x/memory.max': 'max' };
  assert.equal(findGroupMemoryLimit(rootWith(t, files)), undefined);
});
