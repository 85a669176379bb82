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

test('a newcomer holds nothing until all others know it', () => {
  const probation = joined();
  probation.known('a');
  assert.equal(probation.isOver(others('a', 'b'), 1100), false);
  probation.known('b');
  assert.equal(probation.isOver(others('a', 'b'), 1200), true);
});

test('who does not know yet who the others are holds nothing', () => {
  const probation = new Probation();
  probation.joined(1000);
  probation.running(1000);
  assert.equal(probation.isOver(others(), 1100), false);
  probation.viewed();
  assert.equal(probation.isOver(others(), 1100), true);
  probation.joined(5000);
  assert.equal(probation.isOver(others(), 5100), false);
});

test('who was taken for gone is a newcomer again', () => {
  const probation = joined();
  probation.known('a');
  probation.joined(5000);
  probation.viewed();
  assert.equal(probation.isOver(others('a'), 5100), false);
});

test('those who do not say that they know it, as older nodes do not, are not waited for any longer after ten seconds', () => {
  const probation = joined();
  assert.equal(probation.isOver(others('a'), 10_999), false);
  assert.equal(probation.isOver(others('a'), 11_000), true);
});

test('who was paused holds nothing for two seconds', () => {
  const probation = joined();
  probation.running(1799);
  assert.equal(probation.isOver(others(), 1799), true);
  probation.running(2599);
  assert.equal(probation.isOver(others(), 4598), false);
  assert.equal(probation.isOver(others(), 4599), true);
});
