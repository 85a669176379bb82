import assert from 'node:assert/strict';
import { runWalletd } from '../support/walletd-process.js';
import { startFakeRedis } from './fake-redis.js';
import { fault } from './scene.js';
import { shardStates } from './shard-states.js';
import { faultOnEachStore } from './stores.js';

const RULES: readonly (readonly [lacks: string, rules: readonly string[], sentence: RegExp])[] = [
  // This row must be the first, because the user in the next row loads the function.
  ['FUNCTION LOAD', ['-function|load'], /lacks the function.*run `walletd init` once as a user who may/],
  ['CONFIG', ['-config'], /walletd may not read the settings of Redis.*WALLETD_REDIS_TRUST_CONFIG=true/],
  ['FCALL', ['-fcall'], /the ACL of this Redis user lacks a right.*fcall/i],
  ['INFO', ['-info'], /the ACL of this Redis user lacks a right.*info/i],
  ['its keys', ['resetkeys', '~other:*'], /NOPERM this user has no permissions to access one of the keys/],
];

fault('a Redis user without a required permission is refused, naming the permission', async (scene) => {
  const redis = await scene.redis();
  for (const [lacks, rules, sentence] of RULES) {
    await redis.call('ACL', 'SETUSER', 'walletd', 'reset', 'on', '>secret', '~*', '+@all', ...rules);
    const said = await scene.refusal(`redis://walletd:secret@127.0.0.1:${redis.port}`, { WALLETD_INIT: 'auto' });
    assert.match(said, sentence, `without ${lacks}`);
    assert.doesNotMatch(said, /\n\s+at |secret/, 'neither a stack nor a password');
    scene.say(`without ${lacks}: ${said.trim()}`);
  }
});

fault('an empty Redis is refused with the way to create a store', async (scene) => {
  const redis = await scene.redis();
  const said = await scene.refusal(redis.url);
  assert.match(
    said,
    /ended with 1: walletd: there is no store at redis:\/\/\S+: correct the address .* `walletd init`/,
  );
  assert.equal(await redis.call('DBSIZE'), 0, 'nothing was written');
  scene.say(said.trim());
});

fault('a Redis that is still creating its append-only file is refused', async (scene) => {
  const redis = await scene.redis({ appendonly: 'no', 'rdb-key-save-delay': '1000000' });
  for (let i = 0; i < 60; i++) await redis.call('SET', `key-${i}`, 'x');
  await redis.call('CONFIG', 'SET', 'appendonly', 'yes');
  const said = await scene.refusal(redis.url, { WALLETD_INIT: 'auto' });
  assert.match(said, /Redis is rewriting its append-only file, and may have no complete one until then: wait until/);
  assert.equal(await redis.call('EXISTS', 'walletd:meta'), 0, 'nothing was written');
  // End the child process that rewrites the file. Otherwise it would outlive the server.
  await redis.call('CONFIG', 'SET', 'appendonly', 'no');
  scene.say(said.trim());
});

fault('a missing log stops its shard at the start; the others serve', async (scene) => {
  const redis = await scene.redis();
  await (await scene.walletd(redis.url)).end('SIGTERM');
  await redis.call('UNLINK', 'walletd:{2}:wal');
  const walletd = await scene.walletd(redis.url);
  assert.deepEqual(await shardStates(walletd), ['serving', 'serving', 'stopped', 'serving']);
  const { error } = await walletd.waitFor(({ shard, level }) => shard === 2 && level === 'error');
  scene.say(String(error));
});

fault('a read-only replica is refused', async (scene) => {
  const master = await scene.redis();
  const replica = await scene.redis({ replicaof: `127.0.0.1 ${master.port}` });
  const said = await scene.refusal(replica.url);
  assert.match(said, /this Redis is a read-only replica; WALLETD_STORE must name the master/);
  scene.say(said.trim());
});

fault('an old Redis is refused', async (scene) => {
  const old = await startFakeRedis('6.2.0');
  scene.atEnd(old.close);
  const said = await scene.refusal(old.url);
  assert.match(said, /Redis is version 6\.2\.0; walletd needs 7\.0 or later/);
  scene.say(said.trim());
});

faultOnEachStore('a log without its head is refused by every command that needs it', async (scene, place) => {
  await scene.run('init', place.url);
  await place.open().removeHead(2);
  const said = await scene.refusal(place.url);
  assert.match(said, /ended with 1: walletd: .*the log of shard 2 has no head.*restore a backup elsewhere/);
  scene.say(said.trim());
  const accept = runWalletd(['accept-loss', '--yes', '--stopped'], { WALLETD_STORE: place.url });
  assert.equal(accept.status, 1);
  assert.match(accept.stderr, /^walletd: the log of shard 2 has no head.*\n$/);
});
