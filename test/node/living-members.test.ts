import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import type { ClusterTable, MemberRecord, TableView } from '../../src/cluster/table.js';
import { memberOf } from '../../src/cluster/table-records.js';
import { livingMembers } from '../../src/node/living-members.js';

const NOBODY_LISTENS = 1;

/** The beats of those of `moving` are others each time. */
class Table {
  reads = 0;
  readonly members = new Map<string, MemberRecord>();
  /** Who leaves, after so many reads. */
  readonly leaving = new Map<string, number>();
  /** Called at each read but the first two. */
  joining: (() => void) | undefined = undefined;

  constructor(private readonly moving: readonly string[]) {}

  add(tag: string, name: string, port = NOBODY_LISTENS): void {
    this.members.set(tag, memberOf(JSON.stringify({ name, host: '127.0.0.1', port, version: '1', format: 1 })));
  }

  async living(isAskedAbout: (member: MemberRecord) => boolean): Promise<string[]> {
    const members = await livingMembers(this as unknown as ClusterTable, isAskedAbout);
    return members.map(({ name }) => name);
  }

  async read(): Promise<{ beats: ReadonlyMap<string, string>; view: TableView }> {
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

test('those live whose beats move, whether their address refuses or not', async (t) => {
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

test('nobody waits where there is nobody to ask about, or who is asked about has left', async () => {
  const table = new Table([]);
  table.add('a', 'node-0');
  assert.deepEqual(await table.living(({ name }) => name === 'node-1'), []);
  assert.equal(table.reads, 1);
  table.leaving.set('a', 1);
  assert.deepEqual(await table.living(({ name }) => name === 'node-0'), []);
  assert.equal(table.reads, 2);
});

test('who joins while others are looked at is looked at, too', async () => {
  const table = new Table(['b']);
  table.add('a', 'node-0');
  table.joining = () => table.add('b', 'node-0');
  assert.deepEqual(await table.living(() => true), ['node-0']);
});

test('an address that cannot be one is no sign of anything', async () => {
  const table = new Table(['a']);
  table.add('a', 'node-0', 123_456);
  assert.deepEqual(await table.living(() => true), ['node-0']);
});
