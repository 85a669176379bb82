import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readNoted } from '../../src/cli/noted-audit.js';

const head = { since: '0-0', count: 3, hash: 'ab'.repeat(32) };

function noted(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'walletd-noted-'));
  try {
    writeFileSync(join(folder, 'report.json'), text);
    return readNoted(join(folder, 'report.json'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("an earlier report provides each shard's head, for its own store only", () => {
  const report = { storeId: 's', shards: [{ shard: 0, audit: head }, { shard: 1 }] };
  const { heads, mustBeOf } = noted(JSON.stringify(report));
  assert.deepEqual([...heads], [[0, head]]);
  mustBeOf('s');
  assert.throws(() => mustBeOf('t'), /it belongs to store s, not to t/);
});

test('a file that is not a verify report is refused with the right command', () => {
  assert.throws(() => readNoted('/nowhere.json'), /--noted \/nowhere\.json: .*ENOENT.*`walletd verify --json`/);
  assert.throws(() => noted('{'), /--noted .*report\.json: .*JSON/);
  assert.throws(() => noted('{"storeId":"s"}'), /has no `storeId` and `shards`/);
  assert.throws(() => noted('{"storeId":"s","shards":[{"shard":0}]}'), /none of its shards has an audit head/);
  const damaged = { storeId: 's', shards: [{ shard: 0, audit: { ...head, hash: 'x' } }] };
  assert.throws(() => noted(JSON.stringify(damaged)), /its shard 0 has no audit head/);
});
