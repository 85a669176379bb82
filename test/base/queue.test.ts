import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Queue } from '../../src/base/queue.js';

test('a queue behaves like an array when its ring buffer wraps around or grows', () => {
  const step = fc.oneof({ arbitrary: fc.integer({ min: 1, max: 40 }), weight: 3 }, fc.integer({ min: -40, max: -1 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new Queue<number>();
      const model: number[] = [];
      let next = 0;
      for (const count of steps) {
        for (let i = 0; i < count; i++) {
          queue.push(next);
          model.push(next++);
        }
        for (let i = 0; i > count; i--) {
          assert.equal(queue.peek(), model[0]);
          assert.equal(queue.shift(), model.shift());
        }
        assert.equal(queue.length, model.length);
      }
    }),
  );
});
