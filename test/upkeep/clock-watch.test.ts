import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { ClockWatch } from '../../src/upkeep/clock-watch.js';

const HOUR_MS = 3_600_000;

/** A clock that the test advances and sets. */
class Bench {
  wallMs = 1_700_000_000_000;
  monotonicMs = 0;
  warnings = 0;
  readonly watch = new ClockWatch(
    { now: () => this.wallMs, monotonicMs: () => this.monotonicMs },
    { ...silentLogger, warn: () => void this.warnings++ },
  );

  pass(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
  }
}

test('a clock is trusted an hour after the start', () => {
  const bench = new Bench();
  bench.pass(HOUR_MS - 1);
  assert.equal(bench.watch.isTrusted(), false);
  bench.pass(1);
  assert.equal(bench.watch.isTrusted(), true);
});

for (const [way, jumpMs] of [
  ['ahead', 61_000],
  ['back', -61_000],
] as const) {
  test(`a clock that jumps ${way} too far is not trusted for an hour`, () => {
    const bench = new Bench();
    bench.pass(HOUR_MS);
    bench.wallMs += jumpMs;
    assert.equal(bench.watch.isTrusted(), false);
    assert.equal(bench.warnings, 1);
    bench.pass(HOUR_MS - 1);
    assert.equal(bench.watch.isTrusted(), false);
    bench.pass(1);
    assert.equal(bench.watch.isTrusted(), true);
    assert.equal(bench.warnings, 1, 'one jump, one warning');
  });
}

test('a clock that is set by less than a minute is trusted', () => {
  const bench = new Bench();
  bench.pass(HOUR_MS);
  bench.wallMs += 59_000;
  assert.equal(bench.watch.isTrusted(), true);
  assert.equal(bench.warnings, 0);
});
