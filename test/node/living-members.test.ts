import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import type { MemberRecord, MembershipRegistry, RegistryView } from '../../src/cluster/table.js';
import { memberOf } from '../../src/cluster/table-records.js';
import { livingMembers } from '../../src/node/living-members.js';

const NOBODY_LISTENS = 1;

/** Membership registry in which only the heartbeats of the `moving` members advance. */
class Table {
  reads = 0;
  readonly members = new Map<string, MemberRecord>();
  /** By name: the number of reads after which the member leaves. */
  readonly leaving = new Map<string, number>();
  /** Called at each read except the first two. */
  joining: (() => void) | undefined = undefined;

  constructor(private readonly moving: readonly string[]) {}

  add(tag: string, name: string, port = NOBODY_LISTENS): void {
    this.members.set(tag, memberOf(JSON.stringify({ name, host: '127.0.0.1', port, version: '1', format: 1 })));
  }

  async living(isAskedAbout: (member: MemberRecord) => boolean): Promise<string[]> {
    const members = await livingMembers(this as unknown as MembershipRegistry, isAskedAbout);
    return members.map(({ name }) => name);
  }

  async read(): Promise<{ beats: ReadonlyMap<string, string>; view: RegistryView }> {
    this.reads++;
    if (this.reads > 2) this.joining?.();
    for (const [tag, reads] of this.leaving) if (this.reads > reads) this.members.delete(tag);
    const beats = new Map(
      [...this.members.keys()].map((tag) => [tag, this.moving.includes(tag) ? `${this.reads}` : '']),
    );
    const members = new Map(this.members);
    return { beats, view: { version: '', members, drained: new Set(), plan: undefined, claims: new Map() } };
  }
}

test('members are alive when their heartbeats advance, even if their address refuses', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const table = new Table(['a', 'b']);
  table.add('a', 'moves, refuses');
  table.add('b', 'moves, listens', port);
  table.add('c', 'silent, refuses');
  table.add('d', 'silent, listens', port);
  assert.deepEqual(await table.living(() => true), ['moves, refuses', 'moves, listens']);
});

test('no wait when no member matches, or the matching one has left', async () => {
  const table = new Table([]);
  table.add('a', 'node-0');
  assert.deepEqual(await table.living(({ name }) => name === 'node-1'), []);
  assert.equal(table.reads, 1);
  table.leaving.set('a', 1);
  assert.deepEqual(await table.living(({ name }) => name === 'node-0'), []);
  assert.equal(table.reads, 2);
});

test('a member that joins during the check is checked too', async () => {
  const table = new Table(['b']);
  table.add('a', 'node-0');
  table.joining = () => table.add('b', 'node-0');
  assert.deepEqual(await table.living(() => true), ['node-0']);
});

test('an impossible address proves nothing', async () => {
  const table = new Table(['a']);
  table.add('a', 'node-0', 123_456);
  assert.deepEqual(await table.living(() => true), ['node-0']);
});
