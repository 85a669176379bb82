import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newClusterShards } from '../../src/cluster/cluster-shard.js';
import { Watch } from '../../src/cluster/watch.js';

/** Reads the heartbeats every 200 ms, from `fromMs` up to but not including `toMs`. */
function read(watch: Watch, counterAt: (ms: number) => string, fromMs: number, toMs: number): void {
  for (let ms = fromMs; ms < toMs; ms += 200) watch.heartbeatsRead(new Map([['a', counterAt(ms)]]), ms);
}

test('a member whose heartbeat and link are silent for a second is suspected dead', () => {
  const watch = new Watch(newClusterShards(4, 0));
  read(watch, String, 0, 1000);
  watch.heard('a', [], 900);
  read(watch, () => '800', 1000, 2000);
  assert.ok(!watch.isGone('a', 1799), 'beat');
  assert.ok(watch.isGone('a', 2000));
  watch.heard('a', [], 1900);
  assert.ok(!watch.isGone('a', 2000), 'its link speaks');
  read(watch, () => '2000', 2000, 2200);
  assert.ok(!watch.isGone('a', 4000), 'any change is life, and too few were read since');
});

test('a member that refuses connections is suspected sooner, after a silent heartbeat', () => {
  const watch = new Watch(newClusterShards(4, 0));
  read(watch, String, 0, 1000);
  watch.heard('a', [], 990);
  watch.refused('a');
  assert.ok(!watch.isGone('a', 1000));
  watch.heartbeatsRead(new Map([['a', '800']]), 1050);
  watch.heartbeatsRead(new Map([['a', '800']]), 1100);
  assert.ok(!watch.isGone('a', 1190));
  assert.ok(watch.isGone('a', 1200));
});

test('a member whose heartbeat has never changed was never alive', () => {
  const watch = new Watch(newClusterShards(4, 0));
  read(watch, () => '7', 0, 600);
  watch.refused('a');
  assert.ok(!watch.hasLived('a'));
  watch.registrySilent(600);
  read(watch, () => '7', 600, 800);
  assert.ok(!watch.hasLived('a'));
  read(watch, () => '8', 800, 1000);
  watch.registrySilent(1000);
  assert.ok(watch.hasLived('a'), 'by its beat');
  assert.ok(!watch.hasLived('b'));
  watch.heard('b', [], 0);
  assert.ok(watch.hasLived('b'), 'by its link');
});

test("a silent registry resets the time since every member's last sign of life", () => {
  const watch = new Watch(newClusterShards(4, 0));
  read(watch, () => '0', 0, 900);
  const head = { lsn: { epoch: 1, sequence: 1 }, nonce: '0'.repeat(16), checksum: 1 };
  for (const ms of [0, 400, 900]) watch.headSeen(3, head, ms);
  assert.ok(watch.isIdle(3, 900));
  watch.registrySilent(900);
  watch.headSeen(3, head, 1100);
  assert.ok(!watch.isIdle(3, 1100));
  read(watch, () => '0', 1000, 1800);
  assert.ok(!watch.isGone('a', 1850));
  read(watch, () => '0', 1800, 2000);
  assert.ok(watch.isGone('a', 1950));
});

test('a process outside the registry is suspected dead unless its link is active', () => {
  const watch = new Watch(newClusterShards(4, 0));
  assert.ok(watch.isGone('x', 0));
  watch.heard('x', [], 0);
  assert.ok(!watch.isGone('x', 999));
  assert.ok(watch.isGone('x', 1000));
});

test('a log is idle when its head has not moved for a while', () => {
  const watch = new Watch(newClusterShards(4, 0));
  const head = (sequence: number) => ({ lsn: { epoch: 1, sequence }, nonce: '0'.repeat(16), checksum: sequence });
  watch.headSeen(0, head(5), 0);
  watch.headSeen(0, head(5), 299);
  assert.ok(!watch.isIdle(0, 900), 'it was not read since');
  watch.headSeen(0, head(5), 300);
  assert.ok(watch.isIdle(0, 300));
  assert.ok(!watch.isIdle(0, 800), 'it has not been read lately');
  watch.headSeen(0, head(4), 801);
  watch.headSeen(0, head(4), 1000);
  assert.ok(!watch.isIdle(0, 1000));
  assert.ok(!watch.isIdle(1, 1000), 'never seen');
});

test('a member that cannot reach a log stays so until it reports otherwise', () => {
  const watch = new Watch(newClusterShards(4, 0));
  watch.heard('a', [1, 2], 0);
  assert.ok(watch.isStuck('a', 1) && !watch.isStuck('a', 3) && !watch.isStuck('b', 1));
  assert.ok(watch.isAnyStuck);
  watch.heard('a', [2], 200);
  assert.ok(!watch.isStuck('a', 1));
  watch.heard('a', [], 400);
  assert.ok(!watch.isAnyStuck);
});
