import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutageError } from '../../src/base/outage-error.js';
import { livingMembers } from '../../src/node/jobs/living-members.js';
import type { MembershipRegistry } from '../../src/ports/table.js';

test('a busy registry is read again, and any other error ends the search', async () => {
  let reads = 0;
  const read = async () => {
    if (++reads < 3) throw new OutageError('Command timed out');
    return { heartbeats: new Map(), view: { members: new Map() } };
  };
  assert.deepEqual(await livingMembers({ read } as unknown as MembershipRegistry, () => true), []);
  assert.equal(reads, 3);
  const fail = async () => {
    throw new Error('WRONGPASS');
  };
  await assert.rejects(
    livingMembers({ read: fail } as unknown as MembershipRegistry, () => true),
    /WRONGPASS/,
  );
});
