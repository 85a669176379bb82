import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Archive, ArchiveRecord, Days } from '../../src/ports/archive.js';
import { ArchiveBehindError } from '../../src/ports/archive-behind-error.js';
import { DroppedDayError } from '../../src/ports/dropped-day-error.js';

const STORE_ID = '00000000-0000-4000-8000-00000000000a';
export const ARCHIVE_STORES = [STORE_ID, '00000000-0000-4000-8000-00000000000b'] as const;
const DAY = 20_700;
const ALWAYS: Days = { first: 0, last: 1_000_000 };

function record(facts: Partial<ArchiveRecord> = {}): ArchiveRecord {
  return {
    shard: 1,
    day: DAY,
    player: 0xfffffff0,
    round: 7,
    lsn: { epoch: 3, sequence: 2 ** 40 },
    index: 0,
    ids: [{ id: 0xfffffffe, version: 5 }],
    image: Buffer.from('an image'),
    ...facts,
  };
}

/** Records as plain data in a stable order. */
function sorted(records: readonly ArchiveRecord[]): object[] {
  const plain = records.map(({ shard, day, player, round, lsn, index, ids, image }) => {
    const { epoch, sequence } = lsn;
    return { shard, day, player, round, epoch, sequence, index, ids, image: Buffer.from(image).toString('hex') };
  });
  return plain.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function collected<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}

/**
 * A contract that every archive must fulfil. `open` opens a test's archive. The archive is empty at first, and each
 * further call opens the same archive.
 */
export function archiveContract(name: string, open: (test: string) => Promise<Archive>): void {
  const withArchive = (what: string, run: (archive: Archive, again: () => Promise<Archive>) => Promise<void>) =>
    test(`${name}: ${what}`, async () => {
      const opened: Archive[] = [];
      const again = async () => {
        const archive = await open(what);
        opened.push(archive);
        return archive;
      };
      try {
        await run(await again(), again);
      } finally {
        await Promise.all(opened.map((archive) => archive.close()));
      }
    });

  withArchive('an archive on a server reports its clock', async (archive) => {
    const beforeMs = Date.now();
    const serverMs = await archive.serverMs();
    // The test servers run on this machine, so both clocks agree. PostgreSQL's now() is the time at which the
    // transaction began.
    if (serverMs !== undefined)
      assert.ok(serverMs >= beforeMs - 1 && serverMs <= Date.now(), `${serverMs - beforeMs} ms`);
  });

  withArchive("a round is found only by its own name and its transactions' names", async (archive) => {
    const mine = record({
      ids: [
        { id: 1, version: 5 },
        { id: 2, version: 6 },
        { id: 3, version: 0 },
      ],
    });
    const others = [record({ shard: 2 }), record({ player: 8 }), record({ round: 8, ids: [] })];
    await archive.put([mine, ...others]);
    const named = (kind: 'round' | 'transaction', hash: number) => ({ player: mine.player, kind, hash });
    const find = async (...names: ReturnType<typeof named>[]) => sorted(await archive.find(1, names, ALWAYS));
    assert.deepEqual(await find(named('round', 7)), sorted([mine]));
    for (const id of [1, 2, 3]) assert.deepEqual(await find(named('transaction', id)), sorted([mine]));
    assert.deepEqual(await find(named('transaction', 7), named('round', 1)), []);
    assert.deepEqual(await find(named('transaction', 1), named('round', 7)), sorted([mine]), 'once');
    assert.deepEqual(await find(), []);
    assert.deepEqual(await archive.find(1, [named('round', 7)], { first: DAY + 1, last: DAY + 9 }), []);
    assert.deepEqual(await archive.find(1, [named('round', 7)], { first: 0, last: DAY - 1 }), []);
  });

  withArchive('repeated records change nothing, and a round may have several', async (archive, again) => {
    const records = [
      record(),
      record({ lsn: { epoch: 4, sequence: 1 }, image: Buffer.from('newer') }),
      record({ day: DAY + 1, lsn: { epoch: 4, sequence: 2 }, image: Buffer.alloc(100_000, 7) }),
      record({ index: 1, image: Buffer.from('another round of the same hash') }),
      record({ index: 65_535, image: Buffer.alloc(0), ids: [] }),
    ];
    await archive.put(records);
    await archive.put(records);
    await archive.put([]);
    const name = { player: record().player, kind: 'round', hash: 7 } as const;
    assert.deepEqual(sorted(await archive.find(1, [name], ALWAYS)), sorted(records));
    const second = await again();
    assert.deepEqual(sorted(await second.find(1, [name], ALWAYS)), sorted(records));
    await second.put([record({ round: 9 })]);
    assert.equal((await archive.find(1, [{ ...name, hash: 9 }], ALWAYS)).length, 1);
  });

  withArchive('the mark of a shard is its newest record ever put', async (archive, again) => {
    assert.equal(await archive.mark(1), undefined);
    const newest = { epoch: 4, sequence: 2 ** 41, index: 3 };
    await archive.put([
      record({ lsn: { epoch: 4, sequence: 2 ** 41 }, index: 3 }),
      record({ day: DAY + 1, lsn: { epoch: 4, sequence: 2 ** 41 }, index: 2 }),
      record({ shard: 2, index: 7 }),
    ]);
    await archive.put([record({ round: 8 })]);
    const second = await again();
    for (const one of [archive, second]) {
      assert.deepEqual(await one.mark(1), newest);
      assert.deepEqual(await one.mark(2), { epoch: 3, sequence: 2 ** 40, index: 7 });
      assert.equal(await one.mark(3), undefined);
    }
    await second.raiseMark(1, { epoch: 4, sequence: 1, index: 0 });
    assert.deepEqual(await archive.mark(1), newest, 'a mark never goes down');
    await second.raiseMark(3, { epoch: 1, sequence: 1, index: 0 });
    assert.deepEqual(await archive.mark(3), { epoch: 1, sequence: 1, index: 0 });
  });

  withArchive('a lookup that relies on a newer record is refused', async (archive) => {
    const name = { player: record().player, kind: 'round', hash: 7 } as const;
    const mark = { epoch: 3, sequence: 2 ** 40, index: 0 };
    await assert.rejects(archive.find(1, [name], ALWAYS, mark), ArchiveBehindError);
    await archive.put([record()]);
    assert.equal((await archive.find(1, [name], ALWAYS, mark)).length, 1);
    assert.deepEqual(await archive.find(1, [{ ...name, hash: 8 }], ALWAYS, mark), []);
    for (const newer of [{ epoch: 4 }, { sequence: 2 ** 40 + 1 }, { index: 1 }]) {
      await assert.rejects(archive.find(1, [name], ALWAYS, { ...mark, ...newer }), ArchiveBehindError);
    }
    await assert.rejects(archive.find(2, [name], ALWAYS, mark), ArchiveBehindError);
  });

  withArchive('a put that relies on a newer record is refused and changes nothing', async (archive) => {
    const mark = { epoch: 3, sequence: 2 ** 40, index: 0 };
    const later = record({ round: 8, lsn: { epoch: 5, sequence: 1 } });
    const find = () => archive.find(1, [{ player: later.player, kind: 'round', hash: 8 }], ALWAYS);
    await assert.rejects(archive.put([later], mark), ArchiveBehindError);
    assert.equal(await archive.mark(1), undefined);
    await archive.put([record()]);
    for (const newer of [{ epoch: 4 }, { sequence: 2 ** 40 + 1 }, { index: 1 }]) {
      await assert.rejects(archive.put([later], { ...mark, ...newer }), ArchiveBehindError);
    }
    assert.deepEqual([await archive.mark(1), await find()], [mark, []]);
    for await (const put of archive.freshKeys(1)) assert.ok(put?.names.every(({ hash }) => hash !== 8));
    await archive.put([later], mark);
    await archive.put([later], mark);
    assert.equal((await find()).length, 1);
  });

  withArchive('a player is listed by version, newest first, with the whole last version', async (archive) => {
    const rounds = Array.from({ length: 30 }, (_, i) =>
      record({
        round: i,
        day: DAY + (i % 3),
        lsn: { epoch: 1, sequence: i + 1 },
        ids: [
          { id: i, version: 100 + Math.floor(i / 2) },
          { id: 1000 + i, version: 0 },
        ],
      }),
    );
    await archive.put([...rounds, record({ player: 5, ids: [{ id: 1, version: 110 }] })]);
    const { player } = record();
    const all = await archive.list(1, player, 1000, 1000);
    assert.deepEqual(
      all.map(({ version }) => version),
      Array.from({ length: 30 }, (_, i) => 114 - Math.floor(i / 2)),
    );
    const page = await archive.list(1, player, 112, 3);
    assert.deepEqual(
      page.map(({ version }) => version),
      [111, 111, 110, 110],
    );
    assert.deepEqual(await archive.list(2, player, 1000, 10), []);
    const read = await archive.read(
      1,
      page.map((place) => place.record),
      player,
    );
    assert.deepEqual(
      sorted(read),
      sorted(rounds.filter(({ ids }) => ids.some(({ version }) => version === 111 || version === 110))),
    );
    assert.deepEqual(await archive.read(1, [{ ...(rounds[0] as ArchiveRecord), index: 9 }], player), []);
  });

  withArchive('a scan of a day by shard yields all records and names', async (archive) => {
    const many = Array.from({ length: 1200 }, (_, i) =>
      record({ shard: i % 2, round: i, ids: [{ id: i, version: 1 }], player: i % 5 }),
    );
    await archive.put(many.slice(0, 700));
    await archive.put(many.slice(700));
    await archive.put([record({ day: DAY + 1 })]);
    assert.deepEqual(await archive.days(), [DAY, DAY + 1]);
    const mine = many.filter(({ shard }) => shard === 1);
    assert.deepEqual(sorted(await collected(archive.all(1, DAY))), sorted(mine));
    const names = new Set(
      (await collected(archive.names(1, DAY))).map((one) => JSON.stringify([one.player, one.kind, one.hash])),
    );
    assert.equal(names.size, 1200);
    for (const { player, round } of mine) {
      for (const kind of ['round', 'transaction']) assert.ok(names.has(JSON.stringify([player, kind, round])));
    }
    assert.deepEqual(await collected(archive.all(1, DAY + 7)), []);
    assert.ok((await archive.room()).usedBytes > 0);
  });

  withArchive('whole days can be dropped, and records after a log position', async (archive, again) => {
    const records = [0, 1, 2, 3].map((i) => record({ day: DAY + i, round: i, lsn: { epoch: 2, sequence: 10 + i } }));
    await archive.put(records);
    await archive.put([record({ shard: 2, day: DAY + 3, lsn: { epoch: 9, sequence: 99 } })]);
    await archive.dropBefore(DAY + 1);
    await archive.dropBefore(DAY + 1);
    assert.deepEqual(await archive.days(), [DAY + 1, DAY + 2, DAY + 3]);
    // Archived before a loss was accepted, after which the log went on with lower sequence numbers.
    const old = { day: DAY + 2, round: 4, lsn: { epoch: 1, sequence: 13 } };
    const spared = { day: DAY + 3, round: 5, lsn: { epoch: 2, sequence: 13 }, index: 1 };
    await archive.put([record(old), record(spared)]);
    await archive.dropAfter(1, { epoch: 2, sequence: 12 }, ({ round }) => round !== 5);
    const find = async (one: Archive, shard: number, hash: number) =>
      (await one.find(shard, [{ player: record().player, kind: 'round', hash }], ALWAYS)).length;
    for (const one of [archive, await again()]) {
      assert.deepEqual(await Promise.all([0, 1, 2, 3, 4, 5].map((round) => find(one, 1, round))), [0, 1, 1, 0, 1, 1]);
      assert.equal(await find(one, 2, 7), 1);
    }
  });

  withArchive('a put into a dropped day is always refused and changes nothing', async (archive, again) => {
    const name = { player: record().player, kind: 'round', hash: 7 } as const;
    const other = await again();
    await archive.put([record(), record({ day: DAY + 1, index: 1 })]);
    const late = [record({ day: DAY + 1, index: 2 }), record({ index: 3 })];
    await other.dropBefore(DAY + 1);
    await other.dropBefore(DAY - 5);
    for (const one of [archive, other, await again()]) {
      await assert.rejects(one.put(late), (error) => error instanceof DroppedDayError && error.firstDay === DAY + 1);
      await assert.rejects(one.put([record({ day: DAY - 7 })]), DroppedDayError);
      assert.deepEqual(await one.days(), [DAY + 1]);
      assert.equal((await one.mark(1))?.index, 1);
      assert.equal((await one.find(1, [name], ALWAYS)).length, 1);
    }
    await archive.put(late.slice(0, 1));
    assert.equal((await other.find(1, [name], ALWAYS)).length, 2);
  });

  withArchive(
    'what is known of its names is saved, by part, and what was put since is fresh',
    async (archive, again) => {
      const fresh = async (one: Archive) => {
        const all: string[] = [];
        for await (const put of one.freshKeys(1)) {
          assert.ok(put !== undefined);
          all.push(...put.names.map(({ player, kind, hash }) => `${put.day} ${player} ${kind} ${hash}`));
        }
        return all.sort();
      };
      const at = (sequence: number) =>
        record({ lsn: { epoch: 2, sequence }, round: sequence, ids: [{ id: sequence, version: 1 }] });
      const namesAt = (sequence: number) => [
        `${DAY} ${at(0).player} round ${sequence}`,
        `${DAY} ${at(0).player} transaction ${sequence}`,
      ];
      assert.equal((await archive.savedKeys(1)).size, 0);
      await archive.put([at(1), { ...at(1), shard: 2 }]);
      await archive.put([at(2)]);
      assert.deepEqual(await fresh(archive), [...namesAt(1), ...namesAt(2)].sort());
      const large = Buffer.alloc(3_000_000, 'names ');
      await archive.saveKeys(
        1,
        new Map([
          [7, Buffer.from('seven')],
          [2 ** 31, large],
        ]),
        { epoch: 2, sequence: 2 },
      );
      for (const one of [archive, await again()]) {
        assert.deepEqual(await fresh(one), namesAt(2));
        const saved = await one.savedKeys(1);
        assert.deepEqual(
          [...saved.keys()].sort((a, b) => a - b),
          [7, 2 ** 31],
        );
        assert.ok(saved.get(2 ** 31)?.equals(large));
        assert.equal((await one.savedKeys(2)).size, 0);
      }
      await archive.put([at(3)]);
      await archive.saveKeys(
        1,
        new Map([
          [7, undefined],
          [8, Buffer.from('eight')],
        ]),
        { epoch: 3, sequence: 0 },
      );
      assert.deepEqual(await fresh(archive), []);
      assert.deepEqual(
        [...(await archive.savedKeys(1)).keys()].sort((a, b) => a - b),
        [8, 2 ** 31],
      );
    },
  );
}
