import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finish } from '../../../src/shard/archive/archive-hash.js';
import { KnownNames } from '../../../src/shard/archive/known-names.js';

const RETENTION_DAYS = 120;
const FIRST_DAY = 20_000;

/** Names of so many players, one of each kind, over a year. */
function filled(players: number): KnownNames {
  const known = new KnownNames(RETENTION_DAYS);
  for (let player = 0; player < players; player++) {
    known.add(dayOf(player), player, 'round', finish(player));
    known.add(dayOf(player), player, 'transaction', finish(player + 1));
    known.work();
  }
  return known;
}

function dayOf(player: number): number {
  return FIRST_DAY + (player % 365);
}

test('what was added may be there, in its days, also as it was saved; of what was not, one of some hundred is thought to be', () => {
  const players = 50_000;
  const known = filled(players);
  const again = new KnownNames(RETENTION_DAYS);
  for (const [number, part] of known.unsaved()) assert.ok(part !== undefined && again.load(number, part));
  for (const names of [known, again]) {
    for (let player = 0; player < players; player++) {
      assert.ok(names.mayHave(player, 'round', finish(player)));
      const days = names.maybeDays([{ player, kind: 'transaction', hash: finish(player + 1) }]);
      assert.ok(days !== undefined && days.first <= dayOf(player) && days.last >= dayOf(player));
    }
    let wrong = 0;
    for (let player = players; player < 2 * players; player++) {
      if (names.mayHave(player, 'round', finish(player))) wrong++;
      // The same hash of the other kind is another name.
      if (names.mayHave(player - players, 'transaction', finish(player))) wrong++;
    }
    assert.ok(wrong < players / 100, `${wrong} of ${2 * players}`);
  }
});

test('a part that another version saved, or for another retention, is not used', () => {
  const [entry] = filled(10).unsaved();
  const [number, part] = entry as [number, Buffer];
  assert.equal(new KnownNames(RETENTION_DAYS).load(number, part), true);
  assert.equal(new KnownNames(RETENTION_DAYS * 2).load(number, part), false);
  const older = Buffer.from(part);
  older.writeUInt32LE(1, 0);
  assert.equal(new KnownNames(RETENTION_DAYS).load(number, older), false);
  assert.equal(new KnownNames(RETENTION_DAYS).load(number, Buffer.alloc(0)), false);
});
