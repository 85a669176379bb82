import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { type CompletePart, checkBackup, framesOfFile } from '../../../src/tools/backup/backup-reader.js';
import { BackupWriter, writeNewBackup } from '../../../src/tools/backup/backup-writer.js';
import { framesAfter } from '../../../src/tools/backup/follow.js';
import type { Frame, Frames } from '../../../src/tools/frame.js';
import { parseAt } from '../../../src/tools/point-in-time.js';
import type { MemoryWal } from '../../support/memory-wal.js';
import { makeTempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { collect, framesOf, goOn, logsOf, recordedHistory, restored, sourceOf, walletsOf } from '../recorded-store.js';

const NEVER = new AbortController().signal;

async function inFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = makeTempFolder();
  try {
    await run(`${folder.path}/wallets.backup`);
  } finally {
    folder.remove();
  }
}

async function write(path: string, frames: Frames): Promise<void> {
  await (await writeNewBackup(path, frames, NEVER)).close();
}

/** Appends one more segment, as a follower does. */
async function append(path: string, wal: MemoryWal, whole: CompletePart): Promise<void> {
  const writer = await BackupWriter.continue(path, whole);
  const stop = new AbortController();
  const options = { now: () => 2, warn: assert.fail, signal: stop.signal };
  for await (const frame of framesAfter(sourceOf(wal), whole.coverage, options)) {
    if (frame.type !== 'end') {
      await writer.add(frame);
      continue;
    }
    await writer.endSegment(frame);
    stop.abort();
  }
  await writer.close();
}

const restoredFrom = async (path: string) => (await restored(framesOfFile(path, await checkBackup(path)))).wal;

test('zeros that a power failure leaves after the last segment count as cut off', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory();
    await write(path, framesOf(wal));
    const { bytes } = await checkBackup(path);
    const wallets = await walletsOf(wal);
    await goOn(wal, 3, 'later');
    for (const keptBytes of [5, 12, 60]) {
      await append(path, wal, await checkBackup(path));
      truncateSync(path, bytes + keptBytes);
      truncateSync(path, bytes + 4096);
      assert.equal((await checkBackup(path)).bytes, bytes, `${keptBytes} bytes of the segment`);
      truncateSync(path, bytes);
    }
    truncateSync(path, bytes + 100_000);
    const whole = await checkBackup(path);
    assert.deepEqual([whole.bytes, whole.cutBytes], [bytes, 100_000]);
    assert.deepEqual(await walletsOf(await restoredFrom(path)), wallets);
    await append(path, wal, whole);
    assert.deepEqual(await walletsOf(await restoredFrom(path)), await walletsOf(wal));
    truncateSync(path, statSync(path).size + 100);
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('x')]));
    await assert.rejects(checkBackup(path), /is damaged at byte/);
  }));

test('a backup file returns the frames and the store that were written', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory();
    await write(path, framesOf(wal));
    const whole = await checkBackup(path);
    assert.deepEqual(await collect(framesOfFile(path, whole)), await collect(framesOf(wal)));
    assert.deepEqual([whole.bytes, whole.segments, whole.cutBytes], [statSync(path).size, 1, 0]);
    const copy = await restoredFrom(path);
    assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
    const { wal: direct } = await restored(framesOf(wal));
    assert.deepEqual(await logsOf(copy), await logsOf(direct));
  }));

test('many blocks of large and small frames come back in order', () =>
  inFolder(async (path) => {
    const sizes = [
      0,
      1,
      3_000_000,
      1_048_576,
      1_048_565,
      ...Array.from({ length: 300 }, (_, i) => (i * 7919) % 90_000),
    ];
    const made: Frame[] = sizes.map((size, index) => ({
      type: 'chunk',
      shard: 65_535,
      index,
      bytes: Buffer.alloc(size, index),
    }));
    const [meta, ...rest] = await collect(framesOf(await recordedHistory({ bets: 2 })));
    const end = rest.at(-1) as Frame;
    const all = [meta as Frame, ...made, end];
    await write(
      path,
      (async function* () {
        yield* all;
      })(),
    );
    const whole = await checkBackup(path);
    assert.ok(whole.blocks > 5);
    assert.deepEqual(await collect(framesOfFile(path, whole)), all);
  }));

test('only its owner can read a file, which is either complete or absent', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory({ bets: 2 });
    let partial = '';
    const watching = async function* () {
      for await (const frame of framesOf(wal)) {
        assert.ok(!existsSync(path));
        if (frame.type === 'end') partial = `${path}.partial`;
        yield frame;
      }
      assert.ok(existsSync(partial));
    };
    await write(path, watching());
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.ok(!existsSync(partial));

    const broken = `${path}-2`;
    const failing = async function* () {
      for await (const frame of framesOf(wal)) {
        if (frame.type === 'end') throw new Error('the store is away');
        yield frame;
      }
    };
    await assert.rejects(write(broken, failing()), /the store is away/);
    assert.ok(!existsSync(broken) && !existsSync(`${broken}.partial`));
  }));

test('an interrupted backup leaves no file', () =>
  inFolder(async (path) => {
    const stop = new AbortController();
    const stopping = async function* () {
      for await (const frame of framesOf(await recordedHistory())) {
        if (frame.type === 'chunk') stop.abort();
        yield frame;
      }
    };
    await assert.rejects(writeNewBackup(path, stopping(), stop.signal), /interrupted: nothing was saved/);
    assert.ok(!existsSync(path) && !existsSync(`${path}.partial`));
  }));

test('a backup that is interrupted during a store outage leaves no file', () =>
  inFolder(async (path) => {
    const stop = new AbortController();
    let answer = () => {};
    let asked = 0;
    const stalled = async function* () {
      asked++;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      yield* framesOf(await recordedHistory({ bets: 2 }));
    };
    const written = writeNewBackup(path, stalled(), stop.signal);
    await until('the store is asked', () => asked === 1);
    stop.abort();
    assert.ok(!existsSync(path) && !existsSync(`${path}.partial`));
    const next = await BackupWriter.create(path, `${path}.partial`);
    answer();
    await assert.rejects(written, /interrupted: nothing was saved/);
    assert.ok(existsSync(`${path}.partial`), 'of the next backup, which has begun meanwhile');
    await next.close();
    const late = writeNewBackup(`${path}-2`, stalled(), stop.signal);
    await until('the store is asked', () => asked === 2);
    assert.ok(!existsSync(`${path}-2.partial`), 'interrupted before it began');
    answer();
    await assert.rejects(late, /interrupted: nothing was saved/);
  }));

test('neither an existing file nor a file being written is overwritten', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory({ bets: 2 });
    writeFileSync(path, 'precious');
    await assert.rejects(write(path, framesOf(wal)), /already exists; --follow continues it/);
    assert.equal(readFileSync(path, 'utf8'), 'precious');
    writeFileSync(`${path}-2.partial`, 'somebody');
    await assert.rejects(write(`${path}-2`, framesOf(wal)), /another backup is being written, or one was cut off/);
    assert.equal(readFileSync(`${path}-2.partial`, 'utf8'), 'somebody');
  }));

test('a flipped bit in any byte is reported with its position', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory({ bets: 5 });
    await write(path, framesOf(wal));
    await goOn(wal, 2, 'late');
    await append(path, wal, await checkBackup(path));
    const bytes = readFileSync(path);
    assert.ok(bytes.length < 20_000, `${bytes.length} bytes`);
    const spoiled = `${path}-spoiled`;
    for (let at = 0; at < bytes.length; at++) {
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      writeFileSync(spoiled, bytes);
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (at % 8)), at);
      await assert.rejects(checkBackup(spoiled), (error: Error) => {
        const place = Number(/(?:at )?byte (\d+)/.exec(error.message)?.[1]);
        assert.ok(place <= at && at - place < 5000, `byte ${at}: ${error.message}`);
        return true;
      });
    }
  }));

test('a truncated backup yields its complete segments, if any', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory({ bets: 3 });
    await write(path, framesOf(wal));
    const ends = [statSync(path).size];
    const logs = [await logsOf(wal)];
    for (let segment = 0; segment < 2; segment++) {
      await goOn(wal, 2, `late-${segment}`);
      await append(path, wal, await checkBackup(path));
      ends.push(statSync(path).size);
      logs.push(await logsOf(wal));
    }
    const bytes = readFileSync(path);
    const cut = `${path}-cut`;
    for (let length = 0; length <= bytes.length; length++) {
      writeFileSync(cut, bytes.subarray(0, length));
      const segments = ends.filter((end) => end <= length).length;
      if (segments === 0) {
        await assert.rejects(checkBackup(cut), /has no complete segment|is not a walletd backup/);
        continue;
      }
      const whole = await checkBackup(cut);
      const end = ends[segments - 1] as number;
      assert.deepEqual([whole.segments, whole.bytes, whole.cutBytes], [segments, end, length - end]);
      if (length % 37 !== 0 && !ends.includes(length)) continue;
      assert.deepEqual(await logsOf(await restoredFrom(cut)), logs[segments - 1]);
    }
  }));

test('following continues after the last complete segment and rewrites an incomplete one', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory({ bets: 4 });
    await write(path, framesOf(wal));
    await goOn(wal, 4, 'lost');
    await append(path, wal, await checkBackup(path));
    truncateSync(path, statSync(path).size - 3);
    const whole = await checkBackup(path);
    assert.equal(whole.segments, 1);
    await goOn(wal, 4, 'late');
    await append(path, wal, whole);
    assert.deepEqual(await logsOf(await restoredFrom(path)), await logsOf(wal));
  }));

test('a backup file can be restored to any time after its snapshots', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory();
    await write(path, framesOf(wal));
    const whole = await checkBackup(path);
    const { head, snapshot } = whole.coverage.shards[0] ?? assert.fail();
    assert.ok(snapshot !== undefined && snapshot.end.sequence < head.lsn.sequence);
    const at = parseAt(`0:${snapshot.end.epoch}-${snapshot.end.sequence}`);
    const { wal: copy } = await restored(framesOfFile(path, whole), at);
    const { wal: direct } = await restored(framesOf(wal, { at }), at);
    assert.deepEqual(await walletsOf(copy), await walletsOf(direct));
    assert.deepEqual((await copy.head(0)).lsn, snapshot.end);
  }));

test('a different kind of file or a newer version is refused in one sentence', () =>
  inFolder(async (path) => {
    await write(path, framesOf(await recordedHistory({ bets: 2 })));
    const bytes = readFileSync(path);
    writeFileSync(path, 'PK zip');
    await assert.rejects(checkBackup(path), /is not a walletd backup/);
    writeFileSync(path, '');
    await assert.rejects(checkBackup(path), /is not a walletd backup/);
    bytes.writeUInt16BE(2, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 12)), 12);
    writeFileSync(path, bytes);
    await assert.rejects(
      checkBackup(path),
      /is a backup that was written by a newer walletd \(format 2\): use that release/,
    );
  }));

test('if two writers continue a file, the first one notices the other', () =>
  inFolder(async (path) => {
    const wal = await recordedHistory({ bets: 2 });
    await write(path, framesOf(wal));
    const whole = await checkBackup(path);
    const writer = await BackupWriter.continue(path, whole);
    await goOn(wal, 2, 'late');
    await append(path, wal, whole);
    const end: Frame = { type: 'end', coverage: whole.coverage };
    await assert.rejects(writer.endSegment(end), /another process writes to .* as well/);
    await writer.close();
  }));
