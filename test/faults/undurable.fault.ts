import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import { FaultyNetwork } from './faulty-network.js';
import type { Load, Sent } from './load.js';
import { prove } from './proof.js';
import { RawRedis } from './raw-redis.js';
import { fault, type Scene } from './scene.js';
import { EAGER, transactionIdsIn, unfinishedIn, wholeIn } from './snapshots.js';
import { Witness } from './witness.js';

const ENV = { ...EAGER, WALLETD_SHARDS: '1' };
const FENCED = 3;
const WAITS_MS = 1500;

interface Ahead {
  readonly proxy: FaultyNetwork;
  readonly url: string;
  readonly raw: RawRedis;
  readonly witness: Witness;
  readonly walletd: WalletdProcess;
  readonly load: Load;
  /** The id of a snapshot that contains a transaction missing from the log. */
  readonly id: string;
}

/** Creates a snapshot that is ahead of its log: its chunks reach Redis, but appends do not. */
async function aheadOfLog(scene: Scene): Promise<Ahead> {
  const redis = await scene.redis();
  const proxy = await FaultyNetwork.start(redis.port);
  scene.atEnd(() => proxy.close());
  const walletd = await scene.walletd(proxy.url, ENV);
  const raw = new RawRedis(redis);
  const witness = await Witness.of(raw);
  const load = await scene.load(walletd);
  await until('a snapshot', async () => (await wholeIn(raw)).length > 0);
  proxy.faultMode = 'hold-appends';
  const { storeId } = await raw.meta();
  const heldMs = performance.now();
  const isBetSince = ({ endpoint, sentMs }: Sent) => endpoint === 'placeBets' && sentMs > heldMs + 100;
  const [id, held] = await until('a chunk with something that is not in the log', async () => {
    for (const id of await unfinishedIn(raw)) {
      const chunk = await raw.chunk(0, id, 0);
      const ids = chunk === undefined ? new Set() : transactionIdsIn(storeId, chunk);
      // A request's ID is `q-` followed by its bet's ID.
      const held = load.sent.find((one) => isBetSince(one) && ids.has(one.body.id.slice(2)));
      if (held !== undefined) return [id, held] as const;
    }
    return undefined;
  });
  await delay(WAITS_MS);
  assert.ok(!(await wholeIn(raw)).includes(id), 'the manifest waits for the log');
  assert.equal(load.firstAnswerAfter(heldMs + 100), undefined, 'and so does every answer');
  scene.say(`a chunk holds ${held.body.id}, which was ${held.outcome}, and the log does not`);
  return { proxy, url: redis.url, raw, witness, walletd, load, id };
}

describe('a chunk contains entries that its log lacks', { concurrency: true }, () => {
  fault('the snapshot is published only after a late append', async (scene) => {
    const { proxy, raw, witness, url, walletd, load, id } = await aheadOfLog(scene);
    proxy.faultMode = 'fair';
    await proxy.deliverOldest();
    const bytes = await until('the manifest', async () => {
      const manifest = (await raw.manifests(0)).get(id);
      return manifest?.length !== 0 && manifest;
    });
    const { start, end } = new SnapshotCodec((await raw.meta()).storeId).openManifest(bytes);
    assert.ok(end.lsn.sequence > start.lsn.sequence && end.lsn.sequence <= (await raw.head(0)).lsn.sequence);
    load.rest();
    await walletd.end('SIGKILL');
    await load.stop();
    scene.say(await prove([load], await scene.walletd(url, ENV), witness));
    await witness.stop();
  });

  fault('an earlier takeover abandons the snapshot and the append', async (scene) => {
    const { proxy, raw, witness, url, walletd, load, id } = await aheadOfLog(scene);
    const successor = await scene.walletd(url, ENV);
    proxy.faultMode = 'fair';
    assert.match(await proxy.deliverOldest(), /conflict/);
    assert.equal(await walletd.exit(), FENCED);
    await load.stop();
    assert.ok(!(await wholeIn(raw)).includes(id));
    const abandoned = walletd.log.filter(({ code }) => code === 'snapshot-abandoned');
    scene.say(`abandoned: ${abandoned.map(({ reason }) => reason)}`);
    scene.say(await prove([load], successor, witness));
    await witness.stop();
  });

  fault("after a kill the chunk's callbacks are unknown and can be executed", async (scene) => {
    const { proxy, raw, witness, url, walletd, load, id } = await aheadOfLog(scene);
    load.rest();
    await walletd.end('SIGKILL');
    const successor = await scene.walletd(url, ENV);
    assert.match(await proxy.deliverOldest(), /conflict/);
    await load.stop();
    assert.ok(!(await wholeIn(raw)).includes(id));
    scene.say(await prove([load], successor, witness));
    await successor.waitFor(({ msg }) => msg === 'snapshot taken');
    assert.ok(!(await raw.manifests(0)).has(id), 'the next snapshot has cleared it away');
    await witness.stop();
  });
});
