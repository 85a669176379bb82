import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PauseWatch } from '../../src/cluster/pause-watch.js';

const PULSE_MS = 200;

/** This node and some peers, whose monotonic clocks began at different times. */
class Machines {
  readonly watch = new PauseWatch();
  ourMs = 1000;
  readonly theirMs: number[];
  missedMs = 0;

  constructor(peers: number) {
    this.theirMs = Array.from({ length: peers }, (_, i) => 5000 * (i + 1));
  }

  /** All clocks go on, and each peer's pulse comes `lateMs` after it was sent. */
  pulses(count: number, lateMs: readonly number[] = []): void {
    for (let n = 0; n < count; n++) {
      this.ourMs += PULSE_MS;
      for (const [i, ms] of this.theirMs.entries()) {
        this.theirMs[i] = ms + PULSE_MS;
        const missedMs = this.watch.heard(String(i), ms + PULSE_MS - (lateMs[i] ?? 0), this.ourMs);
        this.missedMs += missedMs;
        this.ourMs += missedMs;
      }
    }
  }

  /** This machine is suspended: its clock stands still. */
  pause(ms: number): void {
    for (const [i, theirs] of this.theirMs.entries()) this.theirMs[i] = theirs + ms;
  }
}

for (const peers of [1, 2, 4]) {
  test(`a suspended machine with ${peers} peers learns how long it was paused`, () => {
    const machines = new Machines(peers);
    machines.pulses(20);
    assert.equal(machines.missedMs, 0);
    machines.pause(3_600_000);
    machines.pulses(1);
    assert.equal(machines.missedMs, 3_600_000);
    machines.pulses(200);
    assert.equal(machines.missedMs, 3_600_000, 'counted once');
  });
}

test('late pulses are no pause, and neither is their end', () => {
  const machines = new Machines(2);
  machines.pulses(20);
  machines.pulses(10, [4000, 4000]);
  machines.pulses(20);
  assert.equal(machines.missedMs, 0);
});

test('late first pulses of a link are no pause', () => {
  const machines = new Machines(1);
  machines.pulses(2, [2000]);
  machines.pulses(20);
  assert.equal(machines.missedMs, 0);
});

test('a peer that was paused changes nothing, before and after it has noticed', () => {
  const machines = new Machines(2);
  machines.pulses(20);
  machines.theirMs[0] = (machines.theirMs[0] as number) - 60_000;
  machines.pulses(2);
  machines.theirMs[0] = (machines.theirMs[0] as number) + 60_000;
  machines.pulses(20);
  assert.equal(machines.missedMs, 0);
});

test('one peer of three that leaps ahead is not believed', () => {
  const machines = new Machines(3);
  machines.pulses(20);
  machines.theirMs[1] = (machines.theirMs[1] as number) + 60_000;
  machines.pulses(100);
  assert.equal(machines.missedMs, 0);
  machines.pause(5000);
  machines.pulses(1);
  assert.equal(machines.missedMs, 5000, 'its clock is taken as it is by then');
});

test('a peer whose link is gone has no say', () => {
  const machines = new Machines(2);
  machines.pulses(20);
  machines.watch.forget('1');
  machines.theirMs.pop();
  machines.pause(10_000);
  machines.pulses(1);
  assert.equal(machines.missedMs, 10_000);
});
