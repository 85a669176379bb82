import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { feedEventsOf } from '../../src/feed/events-of.js';
import type { Lsn } from '../../src/ports/lsn.js';
import { tryLsn } from '../../src/ports/lsn.js';
import { findTimeline, type Timeline } from '../../src/ports/timeline.js';
import { STORE_ID, WrittenStore } from '../tools/written-store.js';

const timeline = (id: string, ...after: readonly string[]): Timeline => ({ id, createdMs: 0, after });
const lsnOf = (text: string) => tryLsn(text) as Lsn;

describe('the timeline of an entry', () => {
  const timelines = [timeline('aaaaaaaa', '2-10', '2-5'), timeline('bbbbbbbb', '4-20', '2-5')];

  test('an entry up to the end of a restore belongs to the timeline before', () => {
    assert.equal(findTimeline(timelines, 0, lsnOf('2-10')), undefined);
    assert.equal(findTimeline(timelines, 0, lsnOf('4-20')), 'aaaaaaaa');
  });

  test('an entry after the end of a restore belongs to its timeline', () => {
    assert.equal(findTimeline(timelines, 0, lsnOf('3-11')), 'aaaaaaaa');
    assert.equal(findTimeline(timelines, 0, lsnOf('5-21')), 'bbbbbbbb');
    assert.equal(findTimeline(timelines, 1, lsnOf('3-6')), 'bbbbbbbb');
  });

  test('a store that was never restored has no timeline', () => {
    assert.equal(findTimeline([], 0, lsnOf('1-1')), undefined);
  });
});

test('events at the same place of two histories have different ids', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 5);
  const [bytes] = await store.wal.read(0, lsnOf('1-1'), 1);
  const entry = store.format.decode(bytes as Buffer);
  const idIn = (timelines: readonly Timeline[]) => {
    const source = { storeId: STORE_ID, timelines, currencyOf: () => 'THB', scaleOf: () => 4 };
    return feedEventsOf(entry, source).map(({ event }) => event.id);
  };
  assert.deepEqual(idIn([]), ['0-1-2-0']);
  assert.deepEqual(idIn([timeline('aaaaaaaa', '1-1')]), ['0-1-2-0-aaaaaaaa']);
  assert.deepEqual(idIn([timeline('aaaaaaaa', '1-2')]), ['0-1-2-0']);
});
