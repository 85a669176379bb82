import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Watchdog } from '../../src/base/watchdog.js';

test('silence is reported each time the given number of seconds has passed', () => {
  mock.timers.enable({ apis: ['setInterval'] });
  let noticed = 0;
  const watchdog = new Watchdog(3, () => noticed++);
  const seconds = (count: number) => {
    for (let i = 0; i < count; i++) mock.timers.tick(1000);
  };
  try {
    seconds(3);
    watchdog.heard();
    seconds(3);
    assert.equal(noticed, 0);
    seconds(1);
    assert.equal(noticed, 1);
    seconds(4);
    assert.equal(noticed, 2);
    watchdog.stop();
    seconds(10);
    assert.equal(noticed, 2);
  } finally {
    mock.timers.reset();
  }
});
