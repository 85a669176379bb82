import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemTimers } from '../../src/base/timers.js';

test("timers whose intervals are multiples of 50 ms share the thread's wake-ups", (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const runs: string[] = [];
  const cancels = [50, 100, 150].map((ms) => systemTimers.every(ms, () => void runs.push(`${ms}`)));
  t.mock.timers.tick(300);
  assert.equal(runs.join(' '), '50 50 100 50 150 50 100 50 50 100 150');
  for (const cancel of cancels) cancel();
  t.mock.timers.tick(300);
  assert.equal(runs.length, 11, 'nothing comes after its end');
});

test('a timer may cancel or start other timers while it runs', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const runs: string[] = [];
  const endFirst = systemTimers.every(50, () => {
    runs.push('first');
    endThird = systemTimers.every(100, () => void runs.push('third'));
    endSecond();
    endFirst();
  });
  const endSecond = systemTimers.every(50, () => void runs.push('second'));
  let endThird = () => {};
  t.mock.timers.tick(149);
  assert.deepEqual(runs, ['first']);
  t.mock.timers.tick(101);
  endThird();
  assert.deepEqual(runs, ['first', 'third', 'third']);
});
