import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { systemTimers } from '../../src/base/timers.js';

/** Replaces the clock and the timers. The clock starts at 20 ms, beside the grid. */
function mockedTime(t: TestContext) {
  const time = { nowMs: 20 };
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => time.nowMs);
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      time.nowMs++;
      t.mock.timers.tick(1);
    }
  };
  return { time, pass };
}

test("timers whose intervals are multiples of 50 ms share the thread's wake-ups", (t) => {
  const { time, pass } = mockedTime(t);
  const runs: string[] = [];
  const note = (ms: number) => void runs.push(`${ms} at ${Math.round(time.nowMs / 10) * 10}`);
  const cancels = [50, 100, 3000].map((ms) => systemTimers.every(ms, () => note(ms)));
  pass(200);
  assert.equal(runs.join(', '), '50 at 50, 50 at 100, 100 at 100, 50 at 150, 50 at 200, 100 at 200');
  cancels[0]?.();
  runs.length = 0;
  pass(3000);
  assert.deepEqual([runs.length, runs.filter((run) => run.startsWith('3000'))], [31, ['3000 at 3000']]);
  for (const cancel of cancels) cancel();
  pass(3000);
  assert.equal(runs.length, 31, 'nothing comes after its end');
});

test('a timer that comes and goes does not delay the others', (t) => {
  const { pass } = mockedTime(t);
  let runs = 0;
  const cancel = systemTimers.every(100, () => void runs++);
  for (let i = 0; i < 100; i++) {
    const cancelShort = systemTimers.every(50, () => {});
    pass(30);
    cancelShort();
  }
  cancel();
  assert.equal(runs, 30);
});

test('a timer that is late runs once, and then on time again', (t) => {
  const { time, pass } = mockedTime(t);
  const runsMs: number[] = [];
  const cancel = systemTimers.every(100, () => void runsMs.push(Math.floor(time.nowMs / 10) * 10));
  time.nowMs = 470;
  pass(230);
  cancel();
  assert.deepEqual(
    runsMs.map((ms) => Math.floor(ms / 100)),
    [5, 6, 7],
  );
});

test('a timer may cancel or start other timers while it runs', (t) => {
  const { pass } = mockedTime(t);
  const runs: string[] = [];
  const endFirst = systemTimers.every(50, () => {
    runs.push('first');
    endThird = systemTimers.every(100, () => void runs.push('third'));
    endSecond();
    endFirst();
  });
  const endSecond = systemTimers.every(50, () => void runs.push('second'));
  let endThird = () => {};
  pass(70);
  assert.deepEqual(runs, ['first']);
  pass(130);
  endThird();
  assert.deepEqual(runs, ['first', 'third', 'third']);
});
