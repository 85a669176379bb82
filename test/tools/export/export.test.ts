import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { formatLsn } from '../../../src/ports/lsn.js';
import { RecoveryError } from '../../../src/ports/recovery-error.js';
import type { Head } from '../../../src/ports/wal.js';
import { exportEvents } from '../../../src/tools/export/export.js';
import { ExportCursor } from '../../../src/tools/export/export-cursor.js';
import { type Exported, pumpExport } from '../../../src/tools/export/export-pump.js';
import { startOf } from '../../../src/tools/export/export-start.js';
import { type StoreReader, shardsOf, ToolError } from '../../../src/tools/store-reader.js';
import { commands } from '../../support/domain.js';
import { makeTempFolder } from '../../support/temp-folder.js';
import { WrittenStore, withEntry } from '../written-store.js';

const { place } = commands;
const USERNAMES = ['ann', 'bob', 'cat', 'dan', 'eve', 'kim'];

interface Line {
  readonly shard: number;
  readonly lsn: string;
  readonly index: number;
  readonly time: string;
  readonly username: string;
  readonly version: number;
}

/**
 * Creates a store with six players on three shards. Some entries have several events, and there are more entries than
 * fit into one batch.
 */
async function storyOf(rounds = 200): Promise<WrittenStore> {
  const store = new WrittenStore(3);
  await store.takeOver();
  for (const username of USERNAMES) await store.fund(username, 1_000_000);
  for (let i = 0; i < rounds; i++) {
    await store.run(...USERNAMES.map((username) => place([{ id: `t${i}`, roundId: `r${i}` }], { username })));
  }
  return store;
}

async function startsOf(reader: StoreReader): Promise<Head[]> {
  return await Promise.all(shardsOf(reader).map(async (shard) => (await startOf(shard, undefined, reader)).head));
}

const once = (starts: readonly Head[]) => ({ starts, following: undefined, signal: new AbortController().signal });

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** The events in the log, read without the export code under test. */
function eventsOf(store: WrittenStore): string[] {
  return shardsOf(store.reader).flatMap((shard) =>
    store.wal
      .entries(shard)
      .flatMap(({ lsn, events }) =>
        events.map((event, index) => `${shard}:${formatLsn(lsn)}/${index} ${event.username} ${event.version}`),
      ),
  );
}

const names = (lines: readonly Line[]) =>
  lines.map(({ shard, lsn, index, username, version }) => `${shard}:${lsn}/${index} ${username} ${version}`);

test('each event is exported once, ordered per shard, with shards merged by time', async () => {
  const store = await storyOf();
  let text = '';
  let batches = 0;
  for await (const batch of exportEvents(store.reader, once(await startsOf(store.reader)))) {
    text += batch.text;
    batches++;
  }
  assert.ok(batches > 2, `${batches} batches`);
  const lines = linesOf(text);
  assert.deepEqual([...names(lines)].sort(), eventsOf(store).sort());
  for (const shard of shardsOf(store.reader)) {
    const mine = names(lines.filter((line) => line.shard === shard));
    assert.deepEqual(
      mine,
      eventsOf(store).filter((name) => name.startsWith(`${shard}:`)),
    );
  }
  // Shards are merged by the time of each entry's first event. Lines of different shards may therefore be out of order
  // by up to the duration of one entry.
  const times = lines.map(({ time }) => Date.parse(time));
  for (let i = 1; i < times.length; i++) assert.ok((times[i] as number) > (times[i - 1] as number) - 100);
});

test('an export interrupted at any point omits nothing when it resumes at its cursor', async () => {
  const store = await storyOf(60);
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.integer({ min: 0, max: 3 })), async (chance) => {
      let positions: readonly Head[] = await startsOf(store.reader);
      let text = '';
      let isDone = false;
      let clock = 0;
      for (let run = 0; !isDone && run < 1000; run++) {
        const die = (at: number) => {
          if (chance.next().value === at && run < 900) throw new Error('killed');
        };
        const sink = {
          write: async (batch: string) => {
            die(0);
            text += batch;
            return true;
          },
        };
        const keeper = {
          write: async (noted: readonly Head[]) => {
            die(1);
            positions = noted;
          },
        };
        // The clock advances by a second at each reading, so a position is recorded after every batch.
        const monotonicMs = () => ++clock * 1000;
        isDone = await pumpExport(
          exportEvents(store.reader, once(positions)),
          sink,
          keeper,
          monotonicMs,
          nothing(),
        ).then(
          () => true,
          (error: Error) => {
            assert.equal(error.message, 'killed');
            return false;
          },
        );
      }
      assert.deepEqual([...new Set(names(linesOf(text)))].sort(), eventsOf(store).sort());
    }),
    { numRuns: 30 },
  );
});

const nothing = (): Exported => ({ events: 0, positions: [] });

test('only positions of written batches are recorded, including the end', async () => {
  const store = await storyOf(10);
  const noted: (readonly Head[])[] = [];
  const keeper = { write: async (positions: readonly Head[]) => void noted.push(positions) };
  const starts = await startsOf(store.reader);
  const closed = { write: async () => false };
  await pumpExport(exportEvents(store.reader, once(starts)), closed, keeper, () => 0, nothing());
  assert.deepEqual(noted, []);
  const open = { write: async () => true };
  const exported = nothing();
  await pumpExport(exportEvents(store.reader, once(starts)), open, keeper, () => 0, exported);
  assert.deepEqual([exported.events, exported.positions], [eventsOf(store).length, noted.at(-1)]);
  assert.deepEqual(noted.at(-1), await Promise.all([0, 1, 2].map((shard) => store.wal.head(shard))));
});

test('following exports later events, including those of new players, until it is aborted', async () => {
  const store = await storyOf(1);
  const stop = new AbortController();
  const options = {
    starts: await startsOf(store.reader),
    following: { live: store.reader, warn() {} },
    signal: stop.signal,
  };
  let text = '';
  let idle = 0;
  for await (const batch of exportEvents(store.reader, options)) {
    text += batch.text;
    if (batch.text !== '') continue;
    if (++idle === 1) await store.fund('new', 5, 'JPY');
    if (idle === 2) await store.takeOver();
    if (idle === 3) await store.run(place([{ id: 'again' }]));
    if (idle === 4) stop.abort();
  }
  assert.deepEqual([...names(linesOf(text))].sort(), eventsOf(store).sort());
  assert.match(
    text,
    /"username":"new","currency":"JPY","version":1,"type":"player-imported","id":"open-new","balance":"5"/,
  );
});

test('only a following export waits out an outage', async () => {
  const store = await storyOf(1);
  const { wal } = store;
  let failures = 0;
  const stop = new AbortController();
  const read: StoreReader['wal']['read'] = async (shard, ...place) => {
    if (failures < 3 && shard === 1) {
      failures++;
      throw new Error('the store is away');
    }
    return await wal.read(shard, ...place);
  };
  const reader = { ...store.reader, wal: { read, head: (shard: number) => wal.head(shard) } };
  const starts = await startsOf(store.reader);
  let text = '';
  const warnings: string[] = [];
  const following = { live: reader, warn: (sentence: string) => void warnings.push(sentence) };
  for await (const batch of exportEvents(store.reader, { starts, following, signal: stop.signal })) {
    text += batch.text;
    if (text.includes('"kim"')) stop.abort();
  }
  assert.deepEqual([...names(linesOf(text))].sort(), eventsOf(store).sort());
  assert.deepEqual(warnings.slice(0, 2), [
    'the store cannot be read, retrying: the store is away',
    'the store can be read again',
  ]);
  failures = 0;
  await assert.rejects(async () => {
    for await (const _ of exportEvents(reader, once(starts)));
  }, /the store is away/);
});

describe('the start of an export', () => {
  test('an export starts after an existing entry, even one that was just trimmed', async () => {
    const store = await storyOf(5);
    const lsn = { epoch: 1, sequence: 4 };
    const { head } = await startOf(0, { lsn, checksum: undefined }, store.reader);
    for (const shard of [0, 1, 2]) await store.snapshot(shard);
    await store.trim({ epoch: 1, sequence: 5 });
    assert.deepEqual((await startOf(0, { lsn, checksum: head.checksum }, store.reader)).head.lsn, lsn);
    const { missing, head: oldest } = await startOf(
      0,
      { lsn: { epoch: 1, sequence: 3 }, checksum: undefined },
      store.reader,
    );
    assert.match(missing ?? '', /shard 0 begins at 1-5 .* between 1-3 and this one are no longer available/);
    assert.deepEqual(oldest.lsn, lsn);
    const lines: string[] = [];
    const starts = [oldest, ...(await startsOf(store.reader)).slice(1)];
    for await (const { text } of exportEvents(store.reader, once(starts))) lines.push(...names(linesOf(text)));
    assert.deepEqual(lines.sort(), eventsOf(store).sort());
  });

  test('an export does not continue after a missing or different entry', async () => {
    const store = await storyOf(5);
    const { lsn, checksum } = await store.wal.head(0);
    for (const [position, message] of [
      [{ lsn: { epoch: 1, sequence: 999 }, checksum: undefined }, /has no entry 1-999/],
      [{ lsn: { epoch: 7, sequence: 3 }, checksum: undefined }, /has no entry 7-3/],
      [{ lsn, checksum: checksum ^ 1 }, /is not the one that was exported/],
    ] as const) {
      await assert.rejects(startOf(0, position, store.reader), (error: Error) => {
        assert.ok(error instanceof ToolError);
        assert.match(error.message, message);
        return true;
      });
    }
  });
});

test('an export slower than log trimming reports that', async () => {
  const store = await storyOf(400);
  const starts = await startsOf(store.reader);
  const exported = exportEvents(store.reader, once(starts));
  await exported.next();
  for (const shard of [0, 1, 2]) {
    await store.snapshot(shard);
    await store.trim((await store.wal.head(shard)).lsn, shard);
  }
  await assert.rejects(async () => {
    for await (const _ of exported);
  }, /was trimmed before it was exported/);
});

test('an export stops at damage in the log', async () => {
  const store = await storyOf(10);
  const holed = withEntry(store, '1-5', () => undefined);
  await assert.rejects(async () => {
    for await (const _ of exportEvents(holed, once(await startsOf(holed))));
  }, RecoveryError);
});

test('players created before the log begins have their currency from the snapshot', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('satoshi', 150_000_000, 'BTC');
  await store.snapshot();
  await store.takeOver();
  await store.trim((await store.wal.head(0)).lsn);
  await store.run({ type: 'withdraw', id: 'w', username: 'satoshi', amount: 50_000_000 });
  const { head } = await startOf(0, { lsn: (await store.wal.head(0)).lsn, checksum: undefined }, store.reader);
  await store.run({ type: 'withdraw', id: 'v', username: 'satoshi', amount: 1 });
  for (const [start, amounts] of [
    [(await startOf(0, undefined, store.reader)).head, ['0.5', '0.00000001']],
    [head, ['0.00000001']],
  ] as const) {
    let text = '';
    for await (const batch of exportEvents(store.reader, once([start]))) text += batch.text;
    const lines = linesOf(text) as (Line & { amount: string; currency: string })[];
    assert.deepEqual(
      lines.map(({ amount, currency }) => `${amount} ${currency}`),
      amounts.map((amount) => `${amount} BTC`),
    );
  }
});

describe('export cursor', () => {
  const folder = makeTempFolder();
  after(() => folder.remove());
  const path = join(folder.path, 'cursor');

  test('a cursor is read back as it was written', async () => {
    const store = await storyOf(1);
    const heads = await Promise.all([0, 1, 2].map((shard) => store.wal.head(shard)));
    const cursor = new ExportCursor(path, 'store-a', 3);
    assert.equal(await cursor.read(), undefined);
    await cursor.write(heads);
    assert.deepEqual(
      await cursor.read(),
      heads.map(({ lsn, checksum }) => ({ lsn, checksum })),
    );
    await assert.rejects(
      new ExportCursor(path, 'store-b', 3).read(),
      /belongs to store store-a, but this is store store-b/,
    );
  });

  test('a file that is not a cursor is refused and left unchanged', async () => {
    const positions = ['{"lsn":"x","checksum":1}', '{"lsn":"1-1"}', 'null', '', '{"lsn":"1-1","checksum":1},null'];
    const cursors = positions.map((text) => `{"storeId":"store-a","positions":[${text}]}`);
    for (const text of ['', '{}', '[1]', 'null', ...cursors]) {
      writeFileSync(path, text);
      await assert.rejects(new ExportCursor(path, 'store-a', 1).read(), ToolError, text);
      await assert.rejects(new ExportCursor(`${path}-elsewhere/x`, 'store-a', 1).read(), /ENOENT/, 'known at once');
      assert.equal(readFileSync(path, 'utf8'), text);
    }
  });
});
