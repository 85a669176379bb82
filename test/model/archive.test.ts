import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'pg';
import { cleanUp } from '../../bench/support/clean-up.js';
import { startPostgres, whyNoPostgres } from '../../bench/support/postgres.js';
import type { Archive, ArchiveRecord } from '../../src/shard/archive/archive.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { PostgresArchive } from '../../src/store/postgres/postgres-archive.js';
import type { TransactionView } from '../../src/wallet/query.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { TestHost } from '../support/test-host.js';
import { arbitraryStep, USERNAMES } from './arbitrary-commands.js';

/*
 * Random histories over an archive, with an end of the process between any two steps of a move, against the same without
 * an archive and without an end. Each archive is a real one. MODEL_RUNS lengthens.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 3000);
const MEMORY_MS = 1000;
const STORE_ID = '00000000-0000-4000-8000-00000000000a';

/** Where a process ends: before or after what it puts is in the archive, or once the log has let go of it as well. */
type End = 'before-put' | 'after-put' | 'answer-lost' | 'in-order';

const arbitraryEnd = fc.constantFrom<End>('before-put', 'after-put', 'answer-lost', 'in-order');

/** An archive as one process has it: at its end it does nothing any more. */
class OneLife {
  end: End = 'in-order';
  private isOver = false;

  constructor(private readonly archive: Archive) {}

  get port(): Archive {
    const { archive } = this;
    const put = (records: readonly ArchiveRecord[]) => this.put(records);
    return new Proxy(archive, {
      get: (_, name) => {
        if (name === 'put') return put;
        if (name === 'close') return async () => {};
        const value = archive[name as keyof Archive];
        return this.isOver ? () => new Promise(() => {}) : value.bind(archive);
      },
    });
  }

  kill(): void {
    this.isOver = true;
  }

  private async put(records: readonly ArchiveRecord[]): Promise<void> {
    if (this.isOver || this.end === 'before-put') return await new Promise(() => {});
    await this.archive.put(records);
    if (this.end === 'after-put') await new Promise(() => {});
  }
}

async function listed(host: TestHost, username: string): Promise<object[]> {
  const result = await host.ask({ type: 'list-transactions', username, limit: 1000, after: undefined });
  assert.ok(result.type === 'transactions' && result.page !== undefined, JSON.stringify(result));
  return result.page.items
    .map(({ createdMs, updatedMs, ...view }: TransactionView) => view)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function histories(name: string, runs: number, open: () => Promise<Archive>): void {
  test(`${name}: random histories come out as without it, wherever in a move a process ends`, async () => {
    const lives: TestHost[] = [];
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(arbitraryStep, { minLength: 5, maxLength: 40, size: 'max' }),
          fc.array(arbitraryEnd, { minLength: 1, maxLength: 8 }),
          async (steps, ends) => {
            const archive = await open();
            const limits = { batchEventsMax: 2, mailboxMax: 4 };
            let life = new OneLife(archive);
            let moving = await TestHost.started({ archive: life.port, memoryMs: MEMORY_MS, shards: 1, limits });
            const still = await TestHost.started({ shards: 1, limits });
            for (const username of USERNAMES) for (const host of [moving, still]) await host.fund(username, 100);
            let ended = 0;
            for (const [n, step] of steps.entries()) {
              if (step.type === 'callback') {
                const [actual, expected] = await Promise.all([
                  moving.execute(step.command),
                  still.execute(step.command),
                ]);
                assert.deepEqual(actual, expected);
                continue;
              }
              moving.clock.nowMs += 2 * MEMORY_MS;
              still.clock.nowMs = moving.clock.nowMs;
              if (step.type !== 'restart' && n % 3 > 0) continue;
              const end = ends[ended++ % ends.length] as End;
              life.end = end;
              if (end === 'answer-lost') moving.wal.weather = 'answer-lost';
              // Moves are on their way, and come as far as they come.
              await delay(25);
              if (step.type !== 'restart') {
                life.end = 'in-order';
                moving.wal.weather = 'fine';
                if (end === 'before-put' || end === 'after-put') continue;
              }
              const { wal, clock } = moving;
              wal.weather = 'fine';
              if (end === 'in-order') await moving.host.close();
              else {
                life.kill();
                lives.push(moving);
              }
              life = new OneLife(archive);
              moving = await TestHost.started({ wal, archive: life.port, memoryMs: MEMORY_MS, shards: 1, limits });
              moving.clock.nowMs = clock.nowMs;
            }
            life.end = 'in-order';
            for (const username of USERNAMES) {
              assert.equal(await moving.balance(username), await still.balance(username));
              assert.deepEqual(await listed(moving, username), await listed(still, username));
            }
            lives.push(moving, still);
            life.kill();
            await archive.close();
          },
        ),
        { numRuns: runs },
      );
    } finally {
      await Promise.all(lives.map(({ host }) => host.close()));
    }
  });
}

const folders: { remove: () => void }[] = [];
after(() => {
  for (const folder of folders) folder.remove();
});

histories('an archive in memory', RUNS / 100, async () => new MemoryArchive());

histories('LMDB', RUNS / 200, async () => {
  const folder = makeTempFolder();
  folders.push(folder);
  return LmdbArchive.open(folder.path, STORE_ID);
});

const noPostgres = whyNoPostgres();
if (noPostgres !== undefined) {
  test('PostgreSQL', { skip: noPostgres }, () => {});
} else {
  const server = startPostgres(tmpdir());
  after(() => cleanUp());
  let databases = 0;
  histories('PostgreSQL', RUNS / 200, async () => {
    const name = `model${databases++}`;
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return new PostgresArchive(server.url.replace('/postgres?', `/${name}?`), STORE_ID);
  });
}
