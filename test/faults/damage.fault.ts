import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Lsn } from '../../src/ports/lsn.js';
import { shardOf } from '../../src/threads/placement.js';
import { balanceOf } from '../support/client.js';
import { until } from '../support/until.js';
import { runWalletd, type WalletdProcess } from '../support/walletd-process.js';
import { DamageableShard, middleOf } from './damageable-shard.js';
import { PLAYERS } from './load.js';
import type { Scene } from './scene.js';
import { EAGER } from './snapshots.js';
import { faultOnEachStore, type Place } from './stores.js';

/** Number of rounds per player after which a store holds enough data to damage. */
const PLAYED = 4;
/** The time after which the node has recorded its acknowledged positions. */
const RECORDED_MS = 1300;

interface Case {
  readonly what: string;
  readonly damage: (patient: DamageableShard) => Promise<void>;
  /** Expected text in the log; undefined if operators need no information. */
  readonly words?: RegExp;
}

/** Damage that changes no balance. The log must name the snapshot that was skipped. */
const HARMLESS: readonly Case[] = [
  {
    what: 'a flipped byte in a chunk',
    damage: (p) => p.flipChunk(p.newest),
    words: /chunk 0 of snapshot \w+ is damag/,
  },
  { what: 'a missing chunk', damage: (p) => p.loseChunk(p.newest), words: /chunk 0 is missing/ },
  { what: 'a flipped byte in a manifest', damage: (p) => p.flipManifest(p.newest), words: /the manifest is damaged/ },
  { what: 'a hole before the newest snapshot', damage: (p) => p.loseEntry(middleOf(p.after(1))) },
];

const HOLE = /^entry \S+ of shard \d+ does not follow \S+: the log has a gap or a foreign entry; `walletd accept-loss`/;

/** Damage that keeps the shard stopped, with a reason that matches this text. */
const FATAL: readonly Case[] = [
  {
    what: 'a flipped byte in chunks of all snapshots',
    damage: async (p) => {
      for (const manifest of p.manifests) await p.flipChunk(manifest);
    },
    words: /begins with 1-\d+, and there is no complete snapshot to start from: restore a backup/,
  },
  { what: 'a hole behind the newest snapshot', damage: (p) => p.loseEntry(middleOf(p.after(0))), words: HOLE },
  {
    what: 'a hole behind the only snapshot that is whole',
    damage: async (p) => {
      await p.flipChunk(p.newest);
      await p.loseEntry(middleOf(p.after(1)));
    },
    words: HOLE,
  },
  { what: 'the newest entry missing', damage: (p) => p.loseEntry(p.lsns.at(-1)), words: HOLE },
  {
    what: 'a flipped byte in an entry of the tail',
    damage: (p) => p.flipEntry(middleOf(p.after(0))),
    words: /cannot be read: entry \S+ is damaged: wrong checksum; `walletd accept-loss`/,
  },
  {
    what: 'a manifest newer than the log',
    damage: (p) => p.loseFrom(p.newest.end.lsn),
    words: /contains entries up to \S+, but the log ends at \S+: .*`walletd accept-loss`/,
  },
];

const NEWER: Case = {
  what: 'a manifest of a newer release',
  damage: (p) => p.bringFromFuture(p.newest),
  words:
    /^snapshot \w+ of shard \d+ cannot be read: the snapshot was written by a newer walletd \(format 99\): use that/,
};

const NONE: Case = { what: 'no damage', damage: async () => {} };
/** One shard for each case, and two without damage. With thirteen shards, each one has players. */
const STOPPED: readonly Case[] = [...FATAL, NEWER];
const CASES: readonly Case[] = [...HARMLESS, ...STOPPED, NONE, NONE];
const ENV = { ...EAGER, WALLETD_SHARDS: String(CASES.length), WALLETD_SNAPSHOTS_EVERY_SECONDS: '0' };

faultOnEachStore('a damaged shard has correct balances or stops; the others serve', async (scene, place) => {
  const balances = await growStore(scene, place);
  const raw = place.open();
  const newest: string[] = [];
  for (const [shard, { damage }] of CASES.entries()) {
    const patient = await DamageableShard.of(raw, shard);
    newest.push(patient.newest.id);
    await damage(patient);
  }
  const start = () => scene.walletd(place.url, { ...ENV, WALLETD_NODE_FOLDER: scene.makeFolder() });
  const first = await start();
  await checkBalances(first, balances);
  const states = await shardsOf(first);
  for (const [shard, one] of CASES.entries()) {
    const { state, reason } = states[shard] as ShardState;
    const skipped = first.log.find((line) => line.code === 'snapshot-skipped' && line.snapshot === newest[shard]);
    const isStopped = STOPPED.includes(one);
    const said = isStopped ? reason : skipped?.reason;
    assert.equal(state, isStopped ? 'stopped' : 'serving', `${one.what}: ${reason}`);
    assert.match(String(said), one.words ?? /^undefined$/, one.what);
    scene.say([`${one.what}: ${state}`, ...(said === undefined ? [] : [said])].join(': '));
  }
  await first.end('SIGTERM');
  // Start twice. The second start finds the first one's fences, which must not hide any damage.
  const second = await start();
  await checkBalances(second, balances);
  for (const [shard, { state, reason }] of (await shardsOf(second)).entries()) {
    const { what } = CASES[shard] as Case;
    assert.equal(state, states[shard]?.state, `${what}: ${reason}`);
    const cure = what === NEWER.what ? /: use that release$/ : /`walletd accept-loss`|: restore a backup/;
    if (state === 'stopped') assert.match(String(reason), cure, what);
  }
});

faultOnEachStore('an older, empty or different store is neither served nor written', async (scene, place) => {
  const env = { ...ENV, WALLETD_SHARDS: '2' };
  const walletd = await scene.walletd(place.url, env);
  await play(scene, walletd);
  await delay(RECORDED_MS);
  await walletd.end('SIGKILL');
  const patient = await DamageableShard.of(place.open(), 0);
  await patient.loseFrom(patient.lsns.at(-2) as Lsn);
  for (let start = 0; start < 2; start++) {
    const next = await scene.walletd(place.url, env);
    const [stopped, serving] = await shardsOf(next);
    assert.deepEqual([stopped?.state, serving?.state], ['stopped', 'serving']);
    assert.match(String(stopped?.reason), /lacks 1-\d+, which this node has acknowledged: .*`walletd accept-loss`/);
    if (start === 0) scene.say(`older: ${stopped?.reason}`);
    await next.end('SIGTERM');
  }

  await place.clear();
  const onEmpty = await scene.refusal(place.url, { ...env, WALLETD_INIT: 'auto' });
  assert.match(
    onEmpty,
    /there is no store at \S+, where this node has served \S+: bring that store back: docs\/runbook\.md, .* `walletd accept-loss`/,
  );
  scene.say(`empty: ${onEmpty.trim()}`);

  await place.clear();
  assert.equal(runWalletd(['init'], { WALLETD_STORE: place.url, WALLETD_SHARDS: '2' }).status, 0);
  const before = await place.open().dump();
  const onAnother = await scene.refusal(place.url, env);
  assert.match(
    onAnother,
    /there is a different store, \S+, at \S+, where this node has served \S+: bring that store back: docs\/runbook\.md, .* `walletd accept-loss`/,
  );
  assert.deepEqual(await place.open().dump(), before, 'nothing was written');
  scene.say(`another: ${onAnother.trim()}`);
});

/** Grows a store with two snapshots of each shard, a trimmed log, and newer entries. Resolves to all balances. */
async function growStore(scene: Scene, place: Place): Promise<Map<string, number>> {
  for (let life = 0; life < 2; life++) {
    const walletd = await scene.walletd(place.url, ENV);
    await play(scene, walletd);
    await walletd.end('SIGTERM');
  }
  const walletd = await scene.walletd(place.url, ENV);
  await play(scene, walletd);
  const balances = new Map<string, number>();
  for (const username of PLAYERS) balances.set(username, await balanceOf(walletd.adminUrl, username));
  await walletd.end('SIGKILL');
  return balances;
}

async function play(scene: Scene, walletd: WalletdProcess): Promise<void> {
  const load = await scene.load(walletd);
  const played = (username: string) => load.sent.filter((one) => one.username === username).length;
  await until('all players have played', () => PLAYERS.every((username) => played(username) >= PLAYED));
  await load.stop();
}

/** Checks each balance. A missing answer is acceptable, but a wrong one is not. */
async function checkBalances(walletd: WalletdProcess, balances: ReadonlyMap<string, number>): Promise<void> {
  for (const username of PLAYERS) {
    const { what } = CASES[shardOf(username, CASES.length)] as Case;
    const isStopped = STOPPED.some((one) => one.what === what);
    const response = await fetch(`${walletd.adminUrl}/v1/players/${username}`);
    const { balance } = (await response.json()) as { balance?: number };
    const wanted = isStopped ? [503, undefined] : [200, balances.get(username)];
    assert.deepEqual([response.status, balance], wanted, `${what}: ${username}`);
  }
}

interface ShardState {
  readonly state: string;
  readonly reason?: string;
}

async function shardsOf(walletd: WalletdProcess): Promise<readonly ShardState[]> {
  const response = await fetch(`${walletd.adminUrl}/readyz`);
  return ((await response.json()) as { shards: ShardState[] }).shards;
}
