import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFault, newSubjects } from './subjects.js';

test('a subject that is long, has no area or ends with a period is found', () => {
  for (const subject of ['fixed things', `store: ${'x'.repeat(70)}`, 'store: end a log.', 'Store: end a log'])
    assert.notEqual(findFault(subject), undefined, subject);
  for (const subject of ['store: end a log', 'store, docs: name it', 'test/shard: claim in each title'])
    assert.equal(findFault(subject), undefined, subject);
});

test('subjects of new commits say what they do in at most 72 characters', () => {
  assert.deepEqual(
    newSubjects().flatMap((subject) => findFault(subject) ?? []),
    [],
  );
});
