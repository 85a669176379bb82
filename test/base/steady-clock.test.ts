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

test('a wall clock that jumps years ahead for only a moment is not followed', () => {
  const { clock, pass, steady } = machine();
  const { wallMs } = clock;
  clock.wallMs += 3650 * DAY;
  for (let minute = 0; minute < 60; minute++, pass(MINUTE)) assert.equal(steady.now(), wallMs + minute * MINUTE);
  clock.wallMs -= 3650 * DAY;
  assert.equal(steady.now(), wallMs + 60 * MINUTE);
});

test('two short jumps hours apart do not count as one long jump', () => {
  const { clock, pass, steady } = machine();
  const { wallMs } = clock;
  for (const _ of [1, 2]) {
    clock.wallMs += 3650 * DAY;
    assert.equal(steady.now(), clock.wallMs - 3650 * DAY);
    clock.wallMs -= 3650 * DAY;
    steady.now();
    pass(120 * MINUTE);
  }
  assert.equal(steady.now(), wallMs + 240 * MINUTE);
});

test('a clock that starts later with the trusted offset agrees with the others', () => {
  const { clock, pass, steady } = machine();
  clock.wallMs += 30 * DAY;
  for (let minute = 0; minute <= 60; minute++, pass(MINUTE)) steady.now();
  assert.equal(new SteadyClock(clock, steady.believedOffsetMs).now(), clock.wallMs);
});

test('a jump that lasts for an hour is followed', () => {
  const { clock, pass, steady } = machine();
  clock.wallMs += 30 * DAY;
  for (let minute = 0; minute <= 60; minute++, pass(MINUTE)) steady.now();
  assert.equal(steady.now(), clock.wallMs);
});

test('jumps of less than a day and jumps back are followed immediately', () => {
  const { clock, steady } = machine();
  clock.wallMs += DAY - MINUTE;
  assert.equal(steady.now(), clock.wallMs);
  clock.wallMs -= 3650 * DAY;
  assert.equal(steady.now(), clock.wallMs);
});

test('the time is right as soon as a slow wall clock is corrected', () => {
  const { clock, pass, steady } = machine();
  clock.wallMs -= 2 * DAY;
  assert.equal(steady.now(), clock.wallMs);
  clock.wallMs += 2 * DAY;
  pass(MINUTE);
  assert.equal(steady.now(), clock.wallMs);
});
