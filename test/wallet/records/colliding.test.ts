import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tables } from '../../../src/wallet/state/tables.js';
import { Wallets } from '../../../src/wallet/state/wallets.js';
import { collidingUsernames } from '../../support/colliding.js';

interface Partition {
  readonly slots: Uint32Array;
  readonly capacity: number;
}

/** Directory of the player index. */
function directoryOf(tables: Tables): readonly Partition[] {
  const { playersByName } = tables as unknown as { playersByName: { directory: readonly Partition[] } };
  return playersByName.directory;
}

/** Number of slots that the search for each player examines. */
function stepsOf(tables: Tables): number[] {
  const steps: number[] = [];
  for (const { slots, capacity } of new Set(directoryOf(tables))) {
    for (let slot = 0; slot < capacity; slot++) {
      if (slots[slot * 2 + 1] === 0) continue;
      const first = (((slots[slot * 2] as number) & 0xffff) * capacity) >>> 16;
      steps.push(1 + ((slot - first + capacity) % capacity));
    }
  }
  return steps;
}

function withPlayers(usernames: readonly string[]): Tables {
  const wallets = new Wallets();
  for (const username of usernames) wallets.create(username, 'THB');
  for (const username of usernames) assert.equal(wallets.peek(username)?.username, username);
  return wallets.tables;
}

test('names that collide without a key are found in a few steps', () => {
  const usernames = collidingUsernames([0x12345678], 800);
  const steps = stepsOf(withPlayers(usernames));
  assert.equal(steps.length, usernames.length);
  const mean = steps.reduce((sum, one) => sum + one, 0) / steps.length;
  assert.ok(mean < 6, `${mean} steps on average`);
  assert.ok(Math.max(...steps) < 200, `${Math.max(...steps)} steps at the most`);
});

test('names with equal leading bits in unkeyed hashes do not inflate the directory', () => {
  // More rows than a partition holds, all with the same 20 leading bits.
  const targets = Array.from({ length: 6 }, (_, i) => (0xabcde000 + i) | 0);
  const tables = withPlayers(collidingUsernames(targets, 4097));
  assert.ok(directoryOf(tables).length <= 16, `${directoryOf(tables).length} entries`);
});

test('the directory stays small even when hashes collide despite the key', () => {
  const { playersByName } = new Tables() as unknown as {
    playersByName: { insert(hash: number, row: number): void; find(hash: number, is: () => boolean): number };
  };
  const { directory } = playersByName as unknown as { directory: readonly Partition[] };
  assert.equal(directory.length, 1);
  for (let row = 1; row <= 6000; row++) playersByName.insert((0xabcde000 | (row & 0xfff)) >>> 0, row);
  const grown = (playersByName as unknown as { directory: readonly Partition[] }).directory.length;
  assert.ok(grown <= 32, `${grown} entries`);
});

test('two keys put the same players into different slots', () => {
  const places = [1, 2].map((low) => {
    const tables = new Tables(undefined, { low, high: 0 });
    return Array.from({ length: 20 }, (_, i) => tables.hashRound(1, 1, `round-${i}`));
  });
  assert.notDeepEqual(places[0], places[1]);
});
