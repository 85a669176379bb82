import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LSN_ZERO } from '../../../src/ports/lsn.js';
import type { EncodedEntry } from '../../../src/ports/wal.js';
import { framesAfter } from '../../../src/tools/backup/follow.js';
import type { Coverage } from '../../../src/tools/coverage.js';
import type { Frame } from '../../../src/tools/frame.js';
import { MemoryWal } from '../../support/memory-wal.js';
import {
  collect,
  formats,
  framesOf,
  goOn,
  recordedHistory,
  restored,
  SHARDS,
  STORE_ID,
  sourceOf,
  walletsOf,
} from '../recorded-store.js';

/** Warnings and frames of a follower, up to the first `end` at which `isEnough` returns true. */
async function followed(
  wal: MemoryWal,
  coverage: Coverage,
  isEnough: (frames: readonly Frame[], warnings: readonly string[]) => boolean,
): Promise<{ frames: Frame[]; warnings: string[] }> {
  const [frames, warnings]: [Frame[], string[]] = [[], []];
  const stop = new AbortController();
  const check = () => {
    if (isEnough(frames, warnings)) stop.abort();
  };
  const warn = (sentence: string) => {
    warnings.push(sentence);
    check();
  };
  for await (const frame of framesAfter(sourceOf(wal), coverage, { now: () => 2, warn, signal: stop.signal })) {
    frames.push(frame);
    if (frame.type === 'end') check();
  }
  return { frames, warnings };
}

async function copied(wal: MemoryWal): Promise<{ frames: Frame[]; coverage: Coverage }> {
  const frames = await collect(framesOf(wal));
  const end = frames.at(-1);
  assert.ok(end?.type === 'end');
  return { frames, coverage: end.coverage };
}

async function* stream(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

const entriesIn = (frames: readonly Frame[]) => frames.filter(({ type }) => type === 'entry').length;

test('later entries continue the copy across owners, segment by segment', async () => {
  const wal = await recordedHistory();
  const { frames, coverage } = await copied(wal);
  await goOn(wal, 4, 'late');
  let later = 0;
  const more = await followed(wal, coverage, (found) => {
    const ends = found.filter(({ type }) => type === 'end').length;
    if (ends === 1 && later++ === 0) void goOn(wal, 3, 'later');
    return ends === 2;
  });
  assert.deepEqual(more.warnings, []);
  const { wal: copy } = await restored(stream([...frames, ...more.frames]));
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
});

test('nothing is written while there are no new entries', async () => {
  const wal = await recordedHistory();
  const { coverage } = await copied(wal);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 1200);
  for await (const frame of framesAfter(sourceOf(wal), coverage, {
    now: () => 2,
    warn: assert.fail,
    signal: stop.signal,
  })) {
    assert.fail(frame.type);
  }
});

test('a log that was trimmed before it was copied is reported in one sentence', async () => {
  const wal = await recordedHistory();
  const { coverage } = await copied(wal);
  await goOn(wal, 8, 'late', { keep: 1 });
  const { sequence } =
    (await wal.read(0, LSN_ZERO, 1)).map((bytes) => formats.format.decode(bytes).lsn)[0] ?? assert.fail();
  assert.ok(sequence > (coverage.shards[0]?.head.lsn.sequence ?? 0) + 1);
  await assert.rejects(
    followed(wal, coverage, () => false),
    /the log of shard 0 was trimmed before it was copied: the entries after 3-\d+ and before 4-\d+ are missing; begin/,
  );
});

test('the follower waits out an outage and reports it once', async () => {
  const wal = await recordedHistory();
  const { coverage } = await copied(wal);
  await goOn(wal, 2, 'late');
  const head = wal.head.bind(wal);
  let isAway = true;
  wal.head = async (shard) => {
    if (isAway) throw new Error('connect ECONNREFUSED');
    return head(shard);
  };
  const { frames, warnings } = await followed(wal, coverage, (found, said) => {
    if (said.length === 1) setTimeout(() => (isAway = false), 1500);
    return entriesIn(found) > 0;
  });
  assert.equal(warnings.length, 2);
  assert.match(warnings.join('\n'), /^the store cannot be read, retrying: connect ECONNREFUSED\nthe store can be read/);
  assert.ok(entriesIn(frames) >= 4);
});

test('following waits until the owner restores the newest entries that the store lost', async () => {
  const wal = await recordedHistory();
  const { frames, coverage } = await copied(wal);
  const all = await wal.read(0, LSN_ZERO, 1000);
  const lost = all.slice(-2).map((bytes): EncodedEntry => ({ head: formats.format.decode(bytes).head, bytes }));
  wal.loseTail(0, 2);
  const more = await followed(wal, coverage, (found, said) => {
    if (said.length === 1 && entriesIn(found) === 0) {
      setTimeout(async () => {
        wal.intrude(0, { shard: 0, expected: await wal.head(0), entries: lost });
        await goOn(wal, 2, 'late');
      }, 100);
    }
    return entriesIn(found) > 0;
  });
  assert.equal(more.warnings.length, 1);
  assert.match(
    more.warnings[0] ?? '',
    /^the log of shard 0 ends at 3-\d+: the store has lost entries up to 3-\d+, which/,
  );
  const { wal: copy } = await restored(stream([...frames, ...more.frames]));
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
});

test('a store with a different history at the same LSNs is not followed', async () => {
  const { coverage } = await copied(await recordedHistory());
  const refusal =
    /the log of shard 0 does not continue from 3-\d+, where the backup ends: it is damaged, or has a different hist/;
  const longer = await recordedHistory({ bets: 40 });
  await assert.rejects(
    followed(longer, coverage, () => false),
    refusal,
  );
  const ofOneOwner = new MemoryWal(STORE_ID, SHARDS);
  await goOn(ofOneOwner, 150, 'other');
  await assert.rejects(
    followed(ofOneOwner, coverage, () => false),
    refusal,
  );
});

test('a different entry at the last LSN means a different history', async () => {
  const wal = await recordedHistory();
  const { coverage } = await copied(wal);
  wal.loseTail(0, 1);
  const previous = await wal.head(0);
  const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
  const header = { shard: 0, lsn, nonce: 'ffffffffffffffff', previous, timeMs: 2_000_000_000_000 };
  const fence = formats.format.encodeFence(header, { host: 'elsewhere', pid: 1, startedMs: 0 });
  wal.intrude(0, { shard: 0, expected: previous, entries: [fence] });
  await assert.rejects(
    followed(wal, coverage, () => false),
    /the log of shard 0 does not continue from/,
  );
});

test('many entries are split into several segments', async () => {
  const wal = await recordedHistory({ bets: 2 });
  const { coverage } = await copied(wal);
  const previous = await wal.head(0);
  const text = 'x'.repeat(250);
  let last = previous;
  const entries: EncodedEntry[] = [];
  for (let i = 0; i < 40; i++) {
    const batch = formats.format.beginBatch(2_000_000_000_000);
    for (let event = 0; event < 1000; event++) {
      batch.add({
        type: 'player-created',
        username: `${text}${i}-${event}`,
        version: 1,
        timeMs: 2_000_000_000_000,
        currency: text,
      });
    }
    const lsn = { epoch: last.lsn.epoch, sequence: last.lsn.sequence + 1 };
    const entry = batch.seal({ shard: 0, lsn, nonce: last.nonce, previous: last });
    entries.push({ head: entry.head, bytes: Buffer.from(entry.bytes) });
    last = entry.head;
  }
  wal.intrude(0, { shard: 0, expected: previous, entries });
  const { frames } = await followed(wal, coverage, (found) => entriesIn(found) === entries.length);
  assert.ok(frames.filter(({ type }) => type === 'end').length >= 3);
});
