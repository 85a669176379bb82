import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish, hashOfName, hashOfPlayer } from '../../src/archive/archive-hash.js';
import { HashSet } from '../../src/archive/hash-set.js';
import { KeyFilter, type SkippedSpan } from '../../src/archive/key-filter.js';
import { collidingRoundIds } from '../support/colliding.js';

const RETENTION_DAYS = 120;
const FIRST_DAY = 20_000;
const KEY = { low: 1, high: 2 };

function known(key = KEY, retentionDays = RETENTION_DAYS): KeyFilter & { readonly skippedSpans: SkippedSpan[] } {
  const skippedSpans: SkippedSpan[] = [];
  const names = new KeyFilter(retentionDays, key, (span) => skippedSpans.push(span));
  return Object.assign(names, { skippedSpans });
}

/** Keys of this many players, one of each kind per player, over a year. */
function filled(players: number, names = known()): KeyFilter {
  for (let player = 0; player < players; player++) {
    names.add(dayOf(player), player, 'round', finish(player));
    names.add(dayOf(player), player, 'transaction', finish(player + 1));
    names.work();
  }
  return names;
}

function dayOf(player: number): number {
  return FIRST_DAY + (player % 365);
}

test('a key filter finds all its keys, with about one percent false positives', () => {
  const players = 50_000;
  const first = filled(players);
  // Load the parts into a filter with a different hash key, because saved parts contain their own.
  const again = known({ low: 3, high: 4 });
  assert.ok(again.load(first.unsaved()));
  for (const names of [first, again]) {
    for (let player = 0; player < players; player++) {
      assert.ok(names.mayHave(player, 'round', finish(player)));
      const days = names.findDays([{ player, kind: 'transaction', hash: finish(player + 1) }]);
      assert.ok(days !== undefined && days.first <= dayOf(player) && days.last >= dayOf(player));
    }
    let wrong = 0;
    for (let player = players; player < 2 * players; player++) {
      if (names.mayHave(player, 'round', finish(player))) wrong++;
      // The same hash with a different kind is a different key.
      if (names.mayHave(player - players, 'transaction', finish(player))) wrong++;
    }
    assert.ok(wrong < players / 100, `${wrong} of ${2 * players}`);
  }
});

test('a part saved by a different version or for a different retention is ignored', () => {
  const parts = filled(10).unsaved();
  const [[number, part]] = parts as unknown as [[number, Buffer]];
  assert.equal(known().load(new Map([[number, part]])), true);
  assert.equal(known(KEY, RETENTION_DAYS * 2).load(new Map([[number, part]])), false);
  // Try versions other than the current one. Version 3 had unkeyed hashes.
  for (const version of [1, 3, 5]) {
    const other = Buffer.from(part);
    other.writeUInt32LE(version, 0);
    assert.equal(known().load(new Map([[number, other]])), false, `version ${version}`);
  }
  assert.equal(known().load(new Map([[number, Buffer.alloc(0)]])), false);
  assert.equal(known().load(new Map([[number, undefined]])), false);
});

test('parts saved with different hash keys are ignored and leave nothing behind', () => {
  const parts = new Map(filled(10).unsaved());
  for (const [number, part] of filled(400, known({ low: 3, high: 4 })).unsaved()) {
    if (!parts.has(number)) parts.set(number, part);
  }
  assert.ok(parts.size > 1);
  const names = known();
  assert.equal(names.load(parts), false);
  assert.equal(names.count, 0);
});

test('round ids computed to collide take no more memory than others', () => {
  const player = hashOfPlayer('ann');
  const roundIds = collidingRoundIds(player, 'P1', 2 ** 16, 100);
  const names = known();
  for (const roundId of roundIds) names.add(FIRST_DAY, player, 'round', hashOfName('P1', roundId));
  assert.equal(names.count, roundIds.length);
  for (const roundId of roundIds) assert.ok(names.mayHave(player, 'round', hashOfName('P1', roundId)));
  const others = known();
  for (let i = 0; i < roundIds.length; i++) others.add(FIRST_DAY, player, 'round', hashOfName('P1', `round-${i}`));
  assert.equal(names.bytes, others.bytes);
});

test('a key filter whose set cannot be built may contain any key', (t) => {
  const names = filled(1);
  const later = FIRST_DAY + RETENTION_DAYS;
  t.mock.method(HashSet.prototype, 'add', () => {
    throw new RangeError('Array buffer allocation failed');
  });
  names.add(later, 7, 'round', 7);
  t.mock.restoreAll();
  assert.equal(names.skipped, 1);
  assert.ok(names.mayHave(1234, 'round', 5678), 'also names that nobody has put');
  const days = names.findDays([{ player: 1234, kind: 'round', hash: 5678 }]);
  assert.ok(days !== undefined && days.first <= later && days.last >= later);
  assert.ok(days.first > FIRST_DAY, 'the other span is as it was');
  names.add(later, 8, 'round', 8);
  assert.ok(!names.work());
  assert.equal((names as ReturnType<typeof known>).skippedSpans.length, 1, 'told once');
  // Nothing may be saved now. A save would clear the fresh keys, so that the next start would lack the keys of the
  // skipped span.
  assert.equal(names.unsaved().size, 0);
  names.dropBefore(later + RETENTION_DAYS);
  assert.equal(names.skipped, 0);
  assert.ok(names.unsaved().size > 0);
});

test('a set that cannot be merged is skipped', (t) => {
  const names = filled(1);
  t.mock.method(HashSet.prototype, 'work', () => {
    throw new RangeError('Array buffer allocation failed');
  });
  while (names.work());
  assert.equal(names.skipped, 1);
  assert.ok(names.mayHave(1234, 'round', 5678));
});
