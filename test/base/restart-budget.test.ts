import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartBudget } from '../../src/base/restart-budget.js';

const MINUTE_MS = 60_000;

test('a part that fails for the first time is restarted', () => {
  const budget = new RestartBudget();
  budget.recovered(0);
  assert.equal(budget.failed(1), true);
});

test('a part that fails while coming back is not restarted', () => {
  const budget = new RestartBudget();
  assert.equal(budget.failed(0), true);
  assert.equal(budget.failed(10 * MINUTE_MS), false);
});

test('a part that fails within a minute of coming back is not restarted', () => {
  const budget = new RestartBudget();
  assert.equal(budget.failed(0), true);
  budget.recovered(10 * MINUTE_MS);
  assert.equal(budget.failed(11 * MINUTE_MS - 1), false);
  assert.equal(budget.failed(11 * MINUTE_MS), true);
});
