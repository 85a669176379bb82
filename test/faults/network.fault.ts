import assert from 'node:assert/strict';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { AppendOutcome, EncodedEntry, Head } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { until } from '../support/until.js';
import { type FaultMode, FaultyNetwork } from './faulty-network.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, rareFault, type Scene } from './scene.js';
import { EAGER } from './snapshots.js';
import { Witness } from './witness.js';

/** An owner of a log that is behind a proxy. */
class Owner {
  private readonly format: EntryCodec;
  private readonly nonce = randomBytes(8).toString('hex');
  readonly genesis: Head;

  private constructor(
    readonly store: RedisStore,
    readonly proxy: FaultyNetwork,
    storeId: string,
  ) {
    this.format = new EntryCodec(storeId);
    this.genesis = genesisHead(storeId, 0);
  }

  static async start(scene: Scene): Promise<Owner> {
    const redis = await scene.redis();
    const proxy = await FaultyNetwork.start(redis.port);
    scene.atEnd(() => proxy.close());
    const address = parseRedisAddress(proxy.url) as RedisAddress;
    const store = new RedisStore({ address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false });
    scene.atEnd(() => store.close());
    const storeId = randomUUID();
    const scales = { default: 4, byCurrency: {} };
    const meta: StoreMeta = { storeId, formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 };
    await store.meta.create(meta);
    return new Owner(store, proxy, storeId);
  }

  seal(previous: Head, bytes = 3): EncodedEntry {
    const batch = this.format.beginBatch(1000);
    const username = randomBytes(bytes).toString('hex');
    batch.add({ type: 'player-created', username, version: 1, timeMs: 1000, currency: 'THB' });
    const lsn = { epoch: 1, sequence: previous.lsn.sequence + 1 };
    return batch.seal({ shard: 0, lsn, nonce: this.nonce, previous });
  }

  /** Appends in this fault mode, over a connection that is already open. */
  async append(faultMode: FaultMode, expected: Head, entry: EncodedEntry): Promise<AppendOutcome['type']> {
    this.proxy.faultMode = 'fair';
    await this.store.wal.head(0);
    this.proxy.faultMode = faultMode;
    const [outcome] = await this.store.wal.append([{ shard: 0, expected, entries: [entry] }]);
    this.proxy.faultMode = 'fair';
    return (outcome as AppendOutcome).type;
  }

  async log(): Promise<readonly Buffer[]> {
    return await this.store.wal.read(0, LSN_ZERO, 100);
  }
}

fault('an append with a lost reply is retried, and its entry exists once', async (scene) => {
  const owner = await Owner.start(scene);
  const entry = owner.seal(owner.genesis);
  const sentMs = performance.now();
  assert.equal(await owner.append('swallow-replies', owner.genesis, entry), 'failed');
  const tookMs = Math.round(performance.now() - sentMs);
  assert.equal(await owner.append('fair', owner.genesis, entry), 'duplicate');
  assert.deepEqual(await owner.log(), [entry.bytes]);
  scene.say(`failed after ${tookMs} ms, then duplicate`);
});

fault('late first attempts are duplicates or conflicts, never a second entry', async (scene) => {
  const owner = await Owner.start(scene);
  const { proxy, genesis } = owner;
  const entry = owner.seal(genesis);
  assert.equal(await owner.append('hold-requests', genesis, entry), 'failed');
  assert.equal(await owner.append('hold-requests', genesis, entry), 'failed');
  assert.equal(proxy.holds, 2);
  assert.equal(await owner.append('fair', genesis, entry), 'ok');
  assert.match(await proxy.deliverOldest(), /duplicate/);
  const next = owner.seal(entry.head);
  assert.equal(await owner.append('fair', entry.head, next), 'ok');
  assert.match(await proxy.deliverOldest(), /conflict/);
  assert.deepEqual(await owner.log(), [entry.bytes, next.bytes]);
  assert.deepEqual(await owner.store.wal.head(0), next.head);
  scene.say('the third attempt was ok; the first, late, a duplicate; the second, later still, a conflict');
});

fault('a second attempt after a late first one is a duplicate', async (scene) => {
  const owner = await Owner.start(scene);
  const entry = owner.seal(owner.genesis);
  assert.equal(await owner.append('hold-requests', owner.genesis, entry), 'failed');
  assert.match(await owner.proxy.deliverOldest(), /ok/);
  assert.equal(await owner.append('fair', owner.genesis, entry), 'duplicate');
  assert.deepEqual(await owner.log(), [entry.bytes]);
});

fault('an append over a broken connection succeeds with the same bytes', async (scene) => {
  const owner = await Owner.start(scene);
  const { proxy } = owner;
  let head = owner.genesis;
  const written: Buffer[] = [];
  for (const cutBytes of [1, 60, 40_000, 90_000]) {
    const entry = owner.seal(head, 50_000);
    proxy.cutBytes = cutBytes;
    assert.equal(await owner.append('cut-requests', head, entry), 'failed');
    assert.deepEqual(await owner.log(), written, `nothing is written of a request that ends after ${cutBytes} bytes`);
    assert.equal(await owner.append('fair', head, entry), 'ok');
    written.push(entry.bytes);
    head = entry.head;
  }
  const entry = owner.seal(head);
  assert.equal(await owner.append('cut-replies', head, entry), 'failed');
  assert.equal(await owner.append('fair', head, entry), 'duplicate');
  assert.deepEqual(await owner.log(), [...written, entry.bytes]);
});

for (const workers of ['0', '2']) {
  const one = workers === '0' ? rareFault : fault;
  one(`changing network faults during snapshots lose and repeat nothing (${workers} workers)`, async (scene) => {
    const redis = await scene.redis();
    const proxy = await FaultyNetwork.start(redis.port);
    scene.atEnd(() => proxy.close());
    const walletd = await scene.walletd(proxy.url, { ...EAGER, WALLETD_WORKERS: workers });
    const witness = await Witness.of(new RawRedis(redis));
    const load = await scene.load(walletd);
    const faultModes: FaultMode[] = ['cut-replies', 'swallow-replies', 'cut-requests', 'hold-requests'];
    let spells = 0;
    for (const endMs = Date.now() + 12_000; Date.now() < endMs; spells++) {
      proxy.cutBytes = randomInt(1, 2000);
      proxy.faultMode = faultModes[spells % faultModes.length] as FaultMode;
      await delay(randomInt(5, 100));
      proxy.faultMode = 'fair';
      await delay(randomInt(5, 100));
      // Deliver some held requests only now, long after their sender has given up on them.
      if (proxy.holds > 0 && randomInt(2) === 0) await proxy.deliverOldest().catch(() => {});
      await until('service without network faults', () => load.firstAnswerAfter(performance.now() - 50));
    }
    while (proxy.holds > 0) await proxy.deliverOldest().catch(() => {});
    await load.stop();
    const did = (what: string) => walletd.log.filter(({ msg }) => msg === `snapshot ${what}`).length;
    const snapshots = `${did('taken')} snapshots were taken, ${did('abandoned')} abandoned`;
    scene.say(`${spells} periods of network faults; ${snapshots}; ${await witness.trimmed()} entries were trimmed`);
    const proof = await prove([load], walletd, witness);
    // Check that a start from snapshots reaches the same state.
    await walletd.end('SIGKILL');
    await prove([load], await scene.walletd(redis.url, { ...EAGER, WALLETD_WORKERS: workers }), witness);
    await witness.stop();
    scene.say(proof);
  });
}
