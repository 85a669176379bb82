import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkContinuity } from '../../src/log/log-reader.js';
import type { Head, ReadHeader } from '../../src/ports/wal.js';

const MINE = 'aaaaaaaaaaaaaaaa';
const THEIRS = 'bbbbbbbbbbbbbbbb';
const LAST: Head = { lsn: { epoch: 2, sequence: 5 }, nonce: MINE, checksum: 7 };
const OWNER = { host: 'test', pid: 1, startedMs: 0 };

/** The next entry by the owner of `LAST`. */
function next(changes: Partial<Omit<ReadHeader, 'head'>> = {}): ReadHeader {
  const header = {
    shard: 0,
    lsn: { epoch: 2, sequence: 6 },
    nonce: MINE,
    previousLsn: LAST.lsn,
    previousChecksum: LAST.checksum,
    timeMs: 0,
    owner: undefined,
    ...changes,
  };
  return { ...header, head: { lsn: header.lsn, nonce: header.nonce, checksum: 8 } };
}

const check = (entry: ReadHeader) => checkContinuity(entry, 0, LAST);

test('an entry follows the previous one of its owner, or is a fence', () => {
  check(next());
  check(next({ lsn: { epoch: 3, sequence: 6 }, nonce: THEIRS, owner: OWNER }));
});

test('an entry of a fenced owner or an unfenced epoch is refused', () => {
  const isRefused = (entry: ReadHeader) =>
    assert.throws(() => check(entry), /was not written by the owner of its epoch/);
  isRefused(next({ nonce: THEIRS }));
  isRefused(next({ lsn: { epoch: 3, sequence: 6 } }));
  isRefused(next({ lsn: { epoch: 1, sequence: 6 } }));
  isRefused(next({ nonce: THEIRS, owner: OWNER }));
});

test('entries after a gap, from another shard or with wrong predecessors are refused', () => {
  const isRefused = (entry: ReadHeader) => assert.throws(() => check(entry), /does not follow/);
  isRefused(next({ lsn: { epoch: 2, sequence: 7 } }));
  isRefused(next({ shard: 1 }));
  isRefused(next({ previousChecksum: 9 }));
  isRefused(next({ previousLsn: { epoch: 2, sequence: 4 } }));
});
