import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartBudget } from '../../src/base/restart-budget.js';

const MINUTE_MS = 60_000;

test('a component that fails for the first time is restarted', () => {
  const budget = new RestartBudget();
  budget.recovered(0);
  assert.equal(budget.failed(1), true);
});

test('a component that fails during its restart is not restarted again', () => {
  const budget = new RestartBudget();
  assert.equal(budget.failed(0), true);
  assert.equal(budget.failed(10 * MINUTE_MS), false);
});

test('a component that fails within a minute of a restart is not restarted again', () => {
  const budget = new RestartBudget();
  assert.equal(budget.failed(0), true);
  budget.recovered(10 * MINUTE_MS);
  assert.equal(budget.failed(11 * MINUTE_MS - 1), false);
  assert.equal(budget.failed(11 * MINUTE_MS), true);
});
