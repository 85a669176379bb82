import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EvictedKeys } from '../../src/archive/evicted-keys.js';
import { ShardArchive } from '../../src/archive/shard-archive.js';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { DAY_MS } from '../../src/base/time.js';
import type { Head } from '../../src/ports/wal.js';
import { KeyFiles } from '../../src/store/key-files.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { inTempFolder } from '../support/temp-folder.js';

const STORE = '00112233445566778899aabbccddeeff';
const START = headAt(10);
const NEWEST = headAt(20);

function headAt(sequence: number, nonce = '0011223344556677', checksum = sequence): Head {
  return { lsn: { epoch: 1, sequence }, nonce, checksum };
}

interface Given {
  readonly archive?: MemoryArchive;
  readonly head?: Head;
  /** Heads of all entries in the log. */
  readonly log?: readonly Head[];
  readonly retentionDays?: number;
  readonly storeId?: string;
}

function node(folder: string, given: Given = {}): ShardArchive {
  const { archive = new MemoryArchive(), head = NEWEST, log = [NEWEST], retentionDays = 40, storeId = STORE } = given;
  return new ShardArchive(0, {
    archive,
    required: () => undefined,
    head: () => head,
    names: new KeyFiles(folder, 'redis', storeId),
    isInLog: async (one) =>
      log.some(({ lsn, nonce, checksum }) => {
        return lsn.sequence === one.lsn.sequence && nonce === one.nonce && checksum === one.checksum;
      }),
    retentionMs: retentionDays * DAY_MS,
    hashKey: { low: 1, high: 2 },
    clock: systemClock,
    log: silentLogger,
    observer: { looked() {}, archived() {}, archiveFailed() {} },
    defer: () => {},
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    delay: () => new Promise((resolve) => setImmediate(resolve)),
  });
}

/** Creates an archive that never answers. */
function away(): MemoryArchive {
  const archive = new MemoryArchive();
  archive.mark = async () => {
    throw new Error('away');
  };
  return archive;
}

function mayHave(shard: ShardArchive, roundId: string): boolean {
  return shard.mayHaveMissing('ann', 'p', { ids: [], rewardIds: [], roundIds: [roundId] });
}

/** Writes a file that ends at `head` and contains the round `known`. */
async function write(folder: string, head: Head): Promise<string> {
  const shard = node(folder, { head });
  await shard.load();
  const image = Buffer.from('known');
  const round = {
    productId: 'p',
    roundId: 'known',
    image,
    updatedMs: 20_000 * DAY_MS,
    transactions: [],
    remembers: false,
  };
  await shard.put(head.lsn, [{ username: 'ann', rounds: [round] }]);
  await shard.writeFile();
  return join(folder, String(readdirSync(folder)[0]));
}

async function loadedFrom(folder: string, given: Given = {}, since = START): Promise<ShardArchive> {
  const shard = node(folder, { archive: away(), ...given });
  void shard.load(new EvictedKeys(since, 'snapshot'));
  await shard.fileRead;
  await new Promise((resolve) => setImmediate(resolve));
  return shard;
}

test('a file that reaches the snapshot is used without the archive', () =>
  inTempFolder(async (folder) => {
    const path = await write(folder, NEWEST);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(readdirSync(folder).length, 1, 'no draft is left');
    for (const since of [START, NEWEST]) {
      const shard = await loadedFrom(folder, {}, since);
      assert.ok(!shard.isUnknown);
      assert.ok(mayHave(shard, 'known'));
      assert.ok(!mayHave(shard, 'another'));
      shard.close();
    }
  }));

const UNPROVEN: Readonly<Record<string, { readonly given?: Given; readonly since?: Head }>> = {
  'of another store': { given: { storeId: 'ff112233445566778899aabbccddeeff' } },
  'behind the snapshot': { since: headAt(21) },
  'of another history with the same place': { given: { log: [headAt(20, '8899aabbccddeeff')] } },
  'with an entry that the log has not': { given: { log: [] } },
  'at the end of another snapshot': { given: { log: [] }, since: headAt(20, NEWEST.nonce, 7) },
  'of another retention': { given: { retentionDays: 80 } },
};

for (const [what, { given = {}, since = START }] of Object.entries(UNPROVEN)) {
  test(`a file ${what} is not used`, () =>
    inTempFolder(async (folder) => {
      await write(folder, NEWEST);
      const shard = await loadedFrom(folder, given, since);
      assert.ok(shard.isUnknown);
      assert.ok(mayHave(shard, 'another'), 'anything may be there');
      shard.close();
    }));
}

test('a file that is truncated or has a changed byte is not used', () =>
  inTempFolder(async (folder) => {
    const path = await write(folder, NEWEST);
    const whole = readFileSync(path);
    const files = new KeyFiles(folder, 'redis', STORE);
    assert.ok(await files.read(0));
    for (let at = 0; at < whole.length; at++) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      writeFileSync(path, flipped);
      await assert.rejects(files.read(0), `byte ${at}`);
      writeFileSync(path, whole.subarray(0, at));
      await assert.rejects(files.read(0), `cut at ${at}`);
    }
    writeFileSync(path, Buffer.concat([whole, Buffer.from([0])]));
    await assert.rejects(files.read(0));
  }));

test('keys from a log are complete only if it was read from its beginning', () =>
  inTempFolder(async (folder) => {
    for (const [base, isUnknown] of [
      ['nothing', false],
      ['snapshot', true],
      ['served', true],
    ] as const) {
      const shard = node(folder, { archive: away() });
      void shard.load(new EvictedKeys(START, base));
      await shard.fileRead;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(shard.isUnknown, isUnknown, base);
      shard.close();
    }
  }));
