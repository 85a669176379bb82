import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newClusterShards, noteAcknowledged } from '../../src/cluster/cluster-shard.js';
import { formatLsn, SKIPPED_EPOCHS } from '../../src/ports/lsn.js';

/** The newest acknowledged entry, after these were noted in order. */
function newestOf(...noted: readonly (readonly [epoch: number, sequence: number])[]): string {
  const [shard] = newClusterShards(1, 0);
  assert.ok(shard !== undefined);
  for (const [epoch, sequence] of noted) noteAcknowledged(shard, { lsn: { epoch, sequence }, checksum: 1 });
  return formatLsn(shard.acknowledged?.lsn ?? { epoch: 0, sequence: 0 });
}

test('a lower sequence of the next epoch does not replace a higher one', () => {
  assert.equal(newestOf([5, 1000], [6, 950]), '5-1000');
  assert.equal(newestOf([5, 1000], [6, 1001]), '6-1001');
});

test('entries after an accepted loss replace those of the longer log', () => {
  const epoch = 5 + SKIPPED_EPOCHS + 1;
  assert.equal(newestOf([5, 1000], [epoch, 901]), `${epoch}-901`);
  assert.equal(newestOf([5, 1000], [epoch, 901], [5, 1000]), `${epoch}-901`);
  assert.equal(newestOf([7, 1000], [epoch, 901]), `${epoch}-901`, 'an epoch that the command did not know');
});
