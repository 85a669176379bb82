import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { LSN_ZERO, type Lsn } from '../../src/ports/lsn.js';
import type { Append, EncodedEntry } from '../../src/ports/wal.js';
import type { MakeStore, StoreUnderTest } from './store-under-test.js';
import { one, Writer } from './writer.js';

/** A contract that every `Wal` driver must fulfil. The actor relies on each of these claims. */
export function walContract(driver: string, make: MakeStore): void {
  const contract = (sentence: string, run: (store: StoreUnderTest, log: Writer) => Promise<void>) =>
    test(sentence, async () => {
      const store = await make();
      try {
        await run(store, new Writer(store.wal, store.storeId));
      } finally {
        await store.destroy();
      }
    });

  describe(`the log contract, ${driver}`, () => {
    contract('a new log has a head before the first entry, and nothing to read', async ({ wal }) => {
      for (const shard of [0, 1, 2, 3]) {
        assert.deepEqual((await wal.head(shard)).lsn, LSN_ZERO);
        assert.deepEqual(await wal.read(shard, LSN_ZERO, 10), []);
      }
      assert.notEqual(
        (await wal.head(0)).checksum,
        (await wal.head(1)).checksum,
        'no log continues another by accident',
      );
    });

    contract('an append on the expected head moves the head and reads back unchanged', async ({ wal }, log) => {
      const entry = log.next(0);
      assert.deepEqual(await one(wal, { shard: 0, expected: log.head(0), entries: [entry] }), { type: 'ok' });
      assert.deepEqual(await wal.head(0), entry.head);
      assert.deepEqual(await wal.read(0, LSN_ZERO, 10), [entry.bytes]);
    });

    contract('an append on another head conflicts, shows the head and writes nothing', async ({ wal }, log) => {
      const first = await log.append(0);
      const stale: Append = { shard: 0, expected: log.genesis(0), entries: [log.seal(0, log.genesis(0), 'other')] };
      assert.deepEqual(await one(wal, stale), { type: 'conflict', head: first.head });
      assert.deepEqual(await wal.read(0, LSN_ZERO, 10), [first.bytes]);
    });

    contract('repeated bytes are a duplicate, never a second entry', async ({ wal }, log) => {
      const entry = log.next(0);
      const append: Append = { shard: 0, expected: log.head(0), entries: [entry] };
      assert.deepEqual(await one(wal, append), { type: 'ok' });
      for (let attempt = 0; attempt < 3; attempt++) assert.deepEqual(await one(wal, append), { type: 'duplicate' });
      assert.deepEqual(await wal.read(0, LSN_ZERO, 10), [entry.bytes]);
    });

    contract('an append may have very many entries', async ({ wal }, log) => {
      const expected = log.head(0);
      const entries: EncodedEntry[] = [];
      for (let i = 0; i < 70_000; i++) entries.push(log.seal(0, entries.at(-1)?.head ?? expected));
      // A busy machine may take longer than a driver waits, so an unknown outcome is retried.
      let outcome = await one(wal, { shard: 0, expected, entries });
      for (let again = 0; again < 10 && outcome.type === 'failed'; again++)
        outcome = await one(wal, { shard: 0, expected, entries });
      assert.ok(outcome.type === 'ok' || outcome.type === 'duplicate', outcome.type);
      assert.deepEqual((await wal.read(0, LSN_ZERO, 100_000)).length, entries.length);
    });

    contract('a first attempt after the log has moved on is a conflict', async ({ wal }, log) => {
      const before = log.head(0);
      const entry = await log.append(0);
      const newest = await log.append(0);
      assert.deepEqual(await one(wal, { shard: 0, expected: before, entries: [entry] }), {
        type: 'conflict',
        head: newest.head,
      });
      assert.equal((await wal.read(0, LSN_ZERO, 10)).length, 2);
    });

    contract('a check is ok on the expected head and a conflict on any other', async ({ wal }, log) => {
      const before = log.head(0);
      const { head } = await log.append(0);
      assert.deepEqual(await one(wal, { shard: 0, expected: head, entries: [] }), { type: 'ok' });
      assert.deepEqual(await one(wal, { shard: 0, expected: before, entries: [] }), { type: 'conflict', head });
    });

    contract('several shards share a call, and conflicts stay within their shard', async ({ wal }, log) => {
      const foreign = await log.append(1);
      const appends: Append[] = [];
      for (const shard of [0, 1, 2]) {
        const expected = shard === 1 ? log.genesis(1) : log.head(shard);
        appends.push({ shard, expected, entries: [log.seal(shard, expected, 'other')] });
      }
      appends.push({ shard: 3, expected: log.head(3), entries: [] });
      const outcomes = await wal.append(appends);
      assert.deepEqual(outcomes, [
        { type: 'ok' },
        { type: 'conflict', head: foreign.head },
        { type: 'ok' },
        { type: 'ok' },
      ]);
      assert.deepEqual(await wal.read(0, LSN_ZERO, 9), [appends[0]?.entries[0]?.bytes]);
      assert.deepEqual(await wal.read(1, LSN_ZERO, 9), [foreign.bytes]);
      assert.deepEqual(await wal.read(2, LSN_ZERO, 9), [appends[2]?.entries[0]?.bytes]);
    });

    contract("one shard's entries are read in order, by page, over epochs", async ({ wal }, log) => {
      const written: Buffer[] = [];
      for (let i = 0; i < 25; i++) {
        if (i % 10 === 9) log.newEpoch();
        written.push((await log.append(0)).bytes);
        await log.append(1);
      }
      const read: Buffer[] = [];
      for (let after: Lsn = LSN_ZERO; ; ) {
        const page = await wal.read(0, after, 4);
        assert.ok(page.length <= 4);
        read.push(...page);
        if (page.length < 4) break;
        after = log.format.decode(page[3] as Buffer).lsn;
      }
      assert.deepEqual(read, written);
    });

    contract('a fence starts a new epoch, and the late append of the former owner fails', async (store, log) => {
      await log.append(0);
      const former = log.head(0);
      const other = new Writer((await store.openAgain()).wal, store.storeId);
      other.take(0, former);
      other.newEpoch();
      const fence = await other.append(0);
      const late: Append = { shard: 0, expected: former, entries: [log.seal(0, former)] };
      assert.deepEqual(await one(store.wal, late), { type: 'conflict', head: fence.head });
      assert.deepEqual(await one(store.wal, { shard: 0, expected: former, entries: [] }), {
        type: 'conflict',
        head: fence.head,
      });
      assert.equal((await store.wal.read(0, LSN_ZERO, 10)).length, 2);
    });

    contract('of two owners that start together exactly one fences', async (store, log) => {
      const wals = [store.wal, (await store.openAgain()).wal];
      let head = log.head(0);
      for (let round = 0; round < 20; round++) {
        const contenders = wals.map((wal) => {
          const writer = new Writer(wal, store.storeId);
          writer.take(0, head);
          writer.newEpoch();
          return { wal, entry: writer.seal(0, head) };
        });
        const outcomes = await Promise.all(
          contenders.map(({ wal, entry }) => one(wal, { shard: 0, expected: head, entries: [entry] })),
        );
        const winner = outcomes.findIndex((outcome) => outcome.type === 'ok');
        assert.deepEqual(outcomes.map((outcome) => outcome.type).sort(), ['conflict', 'ok']);
        head = (contenders[winner] as { entry: EncodedEntry }).entry.head;
        assert.deepEqual(outcomes[1 - winner], { type: 'conflict', head }, 'the same epoch, but another nonce');
      }
      assert.equal((await store.wal.read(0, LSN_ZERO, 100)).length, 20);
    });

    contract('logs are fenced together, each at its head, despite busy owners', async (store, log) => {
      const { wal: other } = await store.openAgain();
      let isOver = false;
      const busy = (async () => {
        for (let head = log.head(0); !isOver; ) {
          const entry = log.seal(0, head);
          if ((await one(store.wal, { shard: 0, expected: head, entries: [entry] })).type !== 'ok') return entry.head;
          head = entry.head;
        }
        throw new Error('nobody took it over');
      })();
      const taker = new Writer(other, store.storeId);
      const fences = await other.fence([0, 1, 2, 3], (shard, head) => {
        taker.take(shard, head);
        taker.newEpoch();
        return taker.seal(shard, head);
      });
      await busy;
      isOver = true;
      for (const { shard, previous, entry } of fences) {
        assert.deepEqual(await store.wal.head(shard), entry.head);
        const entries = await store.wal.read(shard, LSN_ZERO, 1000);
        assert.deepEqual(entries.at(-1), entry.bytes);
        if (shard === 0 && entries.length > 1) {
          assert.deepEqual(log.format.decode(entries.at(-2) as Buffer).head, previous, 'nothing is overwritten');
        }
      }
    });

    contract('a new owner sees the newest entry of the log', async (store, log) => {
      const { bytes } = await log.append(2);
      const seen: (Buffer | undefined)[] = [];
      await store.wal.fence([1, 2], (shard, head, newest) => {
        seen.push(newest === undefined ? undefined : Buffer.from(newest));
        return log.seal(shard, head);
      });
      assert.deepEqual(seen, [undefined, bytes]);
    });

    contract('several entries are appended together, and the last is the head', async ({ wal }, log) => {
      const first = log.seal(0, log.head(0));
      const second = log.seal(0, first.head);
      const append: Append = { shard: 0, expected: log.head(0), entries: [first, second] };
      assert.deepEqual(await one(wal, append), { type: 'ok' });
      assert.deepEqual(await one(wal, append), { type: 'duplicate' });
      assert.deepEqual(await wal.head(0), second.head);
      assert.deepEqual(await wal.read(0, LSN_ZERO, 10), [first.bytes, second.bytes]);
    });

    contract('a foreign head with the expected LSN is a conflict', async ({ wal, storeId }, log) => {
      const foreign = new Writer(wal, storeId);
      const theirs = await foreign.append(0);
      const mine = log.seal(0, log.genesis(0));
      assert.deepEqual(mine.head.lsn, theirs.head.lsn);
      const next: Append = { shard: 0, expected: mine.head, entries: [log.seal(0, mine.head)] };
      assert.deepEqual(await one(wal, next), { type: 'conflict', head: theirs.head });
      assert.deepEqual(await one(wal, { shard: 0, expected: mine.head, entries: [] }), {
        type: 'conflict',
        head: theirs.head,
      });
    });

    contract('bytes of every value and length read back unchanged', async ({ wal }, log) => {
      const written: Buffer[] = [];
      const payloads = [
        Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
        ...[1, 2000, 4096, 70_000, 300_000].map((length) => randomBytes(length)),
      ];
      for (const payload of payloads) written.push((await log.append(0, payload.toString('latin1'))).bytes);
      const read = await wal.read(0, LSN_ZERO, 100);
      assert.deepEqual(read, written);
      for (let i = 0; i < 10; i++) await log.append(0, randomBytes(50_000).toString('latin1'));
      assert.equal((await wal.read(0, LSN_ZERO, 100)).length, read.length + 10);
      assert.deepEqual(read, written, 'what was read does not change when more is written and read');
    });

    contract('durable entries survive closing and reopening the store', async (store, log) => {
      const written: Buffer[] = [];
      for (let i = 0; i < 10; i++) written.push((await log.append(2)).bytes);
      const { wal } = await store.reopen();
      assert.deepEqual(await wal.head(2), log.head(2));
      assert.deepEqual(await wal.read(2, LSN_ZERO, 100), written);
      assert.deepEqual(await one(wal, { shard: 2, expected: log.head(2), entries: [log.seal(2, log.head(2))] }), {
        type: 'ok',
      });
    });

    contract('an unknown shard is an error', async ({ wal }) => {
      await assert.rejects(wal.head(99));
    });
  });
}
