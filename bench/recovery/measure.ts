import { randomBytes } from 'node:crypto';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { loadSettings } from '../../src/config/load.js';
import { type Recovered, type RecoveryDeps, rebuild } from '../../src/log/recovery.js';
import { openStore } from '../../src/node/drivers/open-store.js';
import { LSN_ZERO, type Lsn } from '../../src/ports/lsn.js';
import { KnownSnapshots } from '../../src/snapshot/known-snapshots.js';
import { IMMEDIATE, Snapshotter } from '../../src/snapshot/snapshotter.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { writeLongLog } from './long-log.js';

/*
 * One step of the recovery bench, run in a fresh process on the configured store. Prints its result as one line of
 * JSON.
 */
const PAGE_ENTRIES = 64;
const [step, players = '0'] = process.argv.slice(2);
const { store, meta } = await openStore(loadSettings(process.env), 'auto');
const format = new EntryCodec(meta.storeId);
const snapshotFormat = new SnapshotCodec(meta.storeId);
const shards = Array.from({ length: meta.shards }, (_, shard) => shard);
const startedMs = performance.now();
const result = await run();
const ms = performance.now() - startedMs;
await store.close();
console.log(JSON.stringify({ ms, ...result }));

async function run(): Promise<object> {
  switch (step) {
    case 'write':
      return { events: await writeLongLog(store, meta, Number(players)) };
    case 'decode':
      return { events: await decodeAll() };
    case 'snapshot':
      return await takeSnapshots();
    default:
      throw new Error(`there is no step ${step}`);
  }
}

/** Measures only the time for reading and decoding, in a plain loop. */
async function decodeAll(): Promise<number> {
  let events = 0;
  for (const shard of shards) {
    for (let after: Lsn = LSN_ZERO; ; ) {
      const page = await store.wal.read(shard, after, PAGE_ENTRIES);
      for (const bytes of page) {
        const entry = format.decode(bytes);
        events += entry.events.length;
        after = entry.lsn;
      }
      if (page.length < PAGE_ENTRIES) break;
    }
  }
  return events;
}

async function recoverAll(): Promise<Recovered[]> {
  const deps: RecoveryDeps = {
    wal: store.wal,
    snapshots: store.snapshots,
    format,
    snapshotFormat,
    clock: systemClock,
    log: silentLogger,
    delay: async () => {},
    attemptsMax: 1,
    yieldTurn,
    recentBytesMax: 0,
    acknowledged: () => undefined,
  };
  return await Promise.all(
    shards.map(async (shard) => {
      const found = await store.wal.head(shard);
      return await rebuild({ shard, genesis: genesisHead(meta.storeId, shard), found, target: found }, deps);
    }),
  );
}

async function takeSnapshots(): Promise<object> {
  const recovered = await recoverAll();
  const snapshotter = new Snapshotter({
    snapshots: store.snapshots,
    snapshotFormat,
    clock: systemClock,
    log: silentLogger,
    delay: async () => {},
    attemptsMax: 1,
    policy: { everyEntries: 0, everyMs: 0, keep: 3, historyBytesMax: Number.POSITIVE_INFINITY },
    newId: () => randomBytes(8).toString('hex'),
    yieldTurn,
  });
  const startedMs = performance.now();
  let bytes = 0;
  for (const [id, { wallets, totals, head, logBytes }] of recovered.entries()) {
    const applied = head.lsn.sequence;
    const source = { wallets, totals, head, applied, timeMs: Date.now(), logBytes, entriesSinceSnapshot: 1 };
    const taken = await snapshotter.take({ id, source, snapshotTaken() {} }, new KnownSnapshots(), IMMEDIATE);
    if (taken.type !== 'taken') throw new Error(JSON.stringify(taken));
    bytes += taken.bytes;
  }
  return { ms: performance.now() - startedMs, bytes };
}
