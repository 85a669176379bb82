import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers } from '../../src/base/timers.js';
import { Housekeeper } from '../../src/upkeep/housekeeper.js';

const IDLE_MS = 60_000;

/** Counts its calls. */
class CountingShard {
  packed = 0;
  compacted = 0;

  constructor(readonly playerCount: number) {}

  hibernateNext(): void {
    this.packed++;
  }

  compact(): void {
    this.compacted++;
  }
}

function kept(t: { mock: { timers: { tick(ms: number): void } } }, shards: CountingShard[], lookMs: number): void {
  let nowMs = 0;
  const clock = {
    now: () => 0,
    monotonicMs: () => {
      nowMs += lookMs;
      return nowMs;
    },
  };
  const hosted = shards.map((shard) => ({ shard, playersDue: 0 }));
  const keeper = new Housekeeper(hosted, IDLE_MS, clock, systemTimers);
  keeper.start();
  t.mock.timers.tick(IDLE_MS);
  keeper.stop();
}

test('every player is examined once per idle time, in small and large shards', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const shards = [0, 1, 7, 20_000].map((players) => new CountingShard(players));
  kept(t, shards, 0);
  for (const { playerCount, packed, compacted } of shards) {
    assert.ok(Math.abs(packed - playerCount) <= 1 + playerCount * 0.01, `${packed} of ${playerCount}`);
    assert.ok(compacted > 100);
  }
});

test('a turn ends after a millisecond, however many players are due', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const shard = new CountingShard(10_000_000);
  kept(t, [shard], 0.3);
  const turns = shard.compacted;
  assert.ok(shard.packed <= turns * 4, `${shard.packed} in ${turns} turns`);
  assert.ok(shard.packed >= turns);
});
