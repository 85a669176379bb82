import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MissingMembers } from '../../src/cluster/missing-members.js';
import type { MemberRecord, RegistryView } from '../../src/ports/table.js';

/** The view with these members. A name that ends in - belongs to a leaving member. */
function viewOf(...tags: readonly string[]): Pick<RegistryView, 'members'> {
  return {
    members: new Map(
      tags.map((text, i) => {
        const name = text.replace(/-$/, '');
        return [`${name}${i}`, { name, isLeaving: text.endsWith('-') } as MemberRecord];
      }),
    ),
  };
}

const never = () => false;

test('a dead member is missing until a member with its name joins', () => {
  const missing = new MissingMembers();
  missing.look(viewOf('a', 'b'), never);
  missing.look(viewOf('a', 'b'), (tag) => tag === 'b1');
  assert.deepEqual(missing.all, ['b']);
  missing.look(viewOf('a'), never);
  assert.deepEqual(missing.all, ['b'], 'also when the table has forgotten it');
  missing.look(viewOf('a', 'c', 'b'), never);
  assert.deepEqual(missing.all, []);
});

test('a member that announced that it leaves is not missing', () => {
  const missing = new MissingMembers();
  missing.look(viewOf('a', 'b'), never);
  missing.look(viewOf('a', 'b-'), never);
  missing.look(viewOf('a'), never);
  assert.deepEqual(missing.all, []);
});
