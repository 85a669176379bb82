import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Admission, type Pending } from '../../src/http/admission.js';
import { until } from '../support/until.js';

class Request implements Pending {
  older: Pending | undefined = undefined;
  newer: Pending | undefined = undefined;
  isExecuting = false;
  byteLength = 0;
  hasExpired = false;

  constructor(
    private readonly admission: Admission,
    readonly deadlineMs: number,
  ) {
    admission.enter(this);
  }

  expire(): void {
    this.hasExpired = true;
    this.admission.leave(this);
  }
}

function withAdmission(max: number, run: (admission: Admission, clock: { nowMs: number }) => void | Promise<void>) {
  return async () => {
    const clock = { nowMs: 0, now: () => 0, monotonicMs: () => clock.nowMs };
    const admission = new Admission({ inFlightMax: max, inFlightBytesMax: 100 }, clock);
    try {
      await run(admission, clock);
    } finally {
      admission.close();
    }
  };
}

test(
  'a body that is still arriving blocks no complete one',
  withAdmission(2, (admission) => {
    const slow = [new Request(admission, 1000), new Request(admission, 1000)];
    assert.equal(admission.isFull, true, 'no third body');
    assert.equal(admission.tryExecute(slow[0] as Request, 1), true);
    assert.equal(admission.isFull, false);
    assert.equal(admission.tryExecute(slow[1] as Request, 1), true);
    assert.equal(admission.isFull, true, 'it would be read in vain');
    const next = new Request(admission, 1000);
    assert.equal(admission.tryExecute(next, 1), false, 'two are being carried out');
    admission.leave(slow[0] as Request);
    assert.equal(admission.tryExecute(next, 1), true);
    for (const one of [slow[1] as Request, next]) admission.leave(one);
    assert.equal(admission.inFlight, 0);
  }),
);

test(
  'incoming and complete bodies have separate byte limits',
  withAdmission(10, (admission) => {
    const [coming, whole, other] = [1, 2, 3].map(() => new Request(admission, 1000)) as [Request, Request, Request];
    assert.equal(admission.tryGrow(coming, 100), true);
    assert.equal(admission.tryGrow(other, 1), false);
    assert.equal(admission.tryExecute(whole, 60), true);
    assert.equal(admission.tryExecute(coming, 100), false, '60 of 100 are being carried out');
    admission.leave(whole);
    assert.equal(admission.tryExecute(coming, 100), true);
    assert.equal(admission.tryGrow(other, 100), true, 'what has come is not coming any more');
    for (const one of [coming, other]) admission.leave(one);
    const last = new Request(admission, 1000);
    assert.equal(admission.tryGrow(last, 100), true, 'who leaves takes his bytes along');
    assert.equal(admission.tryExecute(last, 100), true);
  }),
);

test(
  'requests past their deadline expire in order, even if earlier ones have left',
  withAdmission(10, async (admission, clock) => {
    const [first, second, third] = [1000, 2000, 3000].map((at) => new Request(admission, at)) as [
      Request,
      Request,
      Request,
    ];
    admission.leave(second);
    clock.nowMs = 1500;
    await until('it expires', () => first.hasExpired);
    assert.deepEqual([first.hasExpired, second.hasExpired, third.hasExpired], [true, false, false]);
    clock.nowMs = 3000;
    await until('it expires', () => third.hasExpired);
    assert.equal(admission.inFlight, 0);
  }),
);
