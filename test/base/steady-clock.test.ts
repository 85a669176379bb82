import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteadyClock } from '../../src/base/steady-clock.js';

const DAY = 86_400_000;
const MINUTE = 60_000;

function machine() {
  const clock = {
    wallMs: 1_700_000_000_000,
    monotonic: 5000,
    now: () => clock.wallMs,
    monotonicMs: () => clock.monotonic,
  };
  const pass = (ms: number) => {
    clock.wallMs += ms;
    clock.monotonic += ms;
  };
  return { clock, pass, steady: new SteadyClock(clock) };
}

test('a wall clock that jumps years ahead for a moment takes nobody along', () => {
  const { clock, pass, steady } = machine();
  const { wallMs } = clock;
  clock.wallMs += 3650 * DAY;
  pass(10 * MINUTE);
  assert.equal(steady.now(), wallMs + 10 * MINUTE);
  clock.wallMs -= 3650 * DAY;
  pass(MINUTE);
  assert.equal(steady.now(), wallMs + 11 * MINUTE);
});

test('where it stays for an hour it is followed', () => {
  const { clock, pass, steady } = machine();
  clock.wallMs += 30 * DAY;
  for (let minute = 0; minute <= 60; minute++, pass(MINUTE)) steady.now();
  assert.equal(steady.now(), clock.wallMs);
});

test('a jump of less than a day, as of a machine that was asleep, and any jump back are followed at once', () => {
  const { clock, steady } = machine();
  clock.wallMs += DAY - MINUTE;
  assert.equal(steady.now(), clock.wallMs);
  clock.wallMs -= 3650 * DAY;
  assert.equal(steady.now(), clock.wallMs);
});

test('a wall clock that was back for a moment is right at once when it is', () => {
  const { clock, pass, steady } = machine();
  clock.wallMs -= 2 * DAY;
  assert.equal(steady.now(), clock.wallMs);
  clock.wallMs += 2 * DAY;
  pass(MINUTE);
  assert.equal(steady.now(), clock.wallMs);
});
