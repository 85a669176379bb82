import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Probation } from '../../src/cluster/probation.js';

function joined(): Probation {
  const probation = new Probation();
  probation.joined(1000);
  probation.viewed();
  probation.running(1000);
  return probation;
}

function others(...tags: string[]): () => string[] {
  return () => tags;
}

test('a newcomer holds no copies until all other members know it', () => {
  const probation = joined();
  probation.known('a');
  assert.equal(probation.isOver(others('a', 'b'), 1100), false);
  probation.known('b');
  assert.equal(probation.isOver(others('a', 'b'), 1200), true);
});

test('a node holds no copies before it knows the other members', () => {
  const probation = new Probation();
  probation.joined(1000);
  probation.running(1000);
  assert.equal(probation.isOver(others(), 1100), false);
  probation.viewed();
  assert.equal(probation.isOver(others(), 1100), true);
  probation.joined(5000);
  assert.equal(probation.isOver(others(), 5100), false);
});

test('a node that was suspected dead is a newcomer again', () => {
  const probation = joined();
  probation.known('a');
  probation.joined(5000);
  probation.viewed();
  assert.equal(probation.isOver(others('a'), 5100), false);
});

test('older nodes that never send `known` delay the newcomer by at most ten seconds', () => {
  const probation = joined();
  assert.equal(probation.isOver(others('a'), 10_999), false);
  assert.equal(probation.isOver(others('a'), 11_000), true);
});

test('a paused node holds no copies for two seconds', () => {
  const probation = joined();
  probation.running(1799);
  assert.equal(probation.isOver(others(), 1799), true);
  probation.running(2599);
  assert.equal(probation.isOver(others(), 4598), false);
  assert.equal(probation.isOver(others(), 4599), true);
});
