import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFault, newSubjects } from './subjects.js';

test('subjects that are long, lack an area or end with a period are rejected', () => {
  for (const subject of ['fixed things', `store: ${'x'.repeat(70)}`, 'store: end a log.', 'Store: end a log'])
    assert.notEqual(findFault(subject), undefined, subject);
  for (const subject of ['store: end a log', 'store, docs: name it', 'test/engine: claim in each title'])
    assert.equal(findFault(subject), undefined, subject);
});

test('new commits have valid subjects of at most 72 characters', () => {
  assert.deepEqual(
    newSubjects().flatMap((subject) => findFault(subject) ?? []),
    [],
  );
});
