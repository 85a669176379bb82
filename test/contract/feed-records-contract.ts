import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedRecords } from '../../src/ports/feed-records.js';

interface WithRecords {
  readonly feeds: FeedRecords;
}

/** A store with shards 0 to 3. */
export interface RecordsUnderTest extends WithRecords {
  /** Closes all handles and reopens the store. */
  reopen(): Promise<WithRecords>;
  destroy(): Promise<void>;
}

/** A contract that the records of the feed must fulfil in every store. */
export function feedRecordsContract(name: string, open: () => Promise<RecordsUnderTest>): void {
  test(`${name}: records of the feed are written, replaced and removed`, async () => {
    const { feeds: records, reopen, destroy } = await open();
    try {
      assert.deepEqual([...(await records.all())], []);
      await records.put('d:one', '{"a":1}');
      await records.put('p:one', 'ä');
      await records.put('d:two', 'x'.repeat(50_000));
      await records.put('d:one', '{"a":2}');
      const all = [...(await records.all())].sort();
      assert.deepEqual(all, [
        ['d:one', '{"a":2}'],
        ['d:two', 'x'.repeat(50_000)],
        ['p:one', 'ä'],
      ]);
      await records.settle([0, 1, 2, 3]);
      const { feeds: again } = await reopen();
      assert.deepEqual([...(await again.all())].sort(), all);
      await again.remove(['d:one', 'p:one', 'd:none']);
      assert.deepEqual([...(await again.all()).keys()], ['d:two']);
    } finally {
      await destroy();
    }
  });
}
