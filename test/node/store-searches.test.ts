import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { StoreSearch } from '../../src/admin/store-searcher.js';
import { StoreSearches } from '../../src/node/jobs/store-searches.js';
import { endAfterTests } from '../support/children.js';
import { settingsWith } from '../support/settings.js';
import { until } from '../support/until.js';

const ENDLESS = fileURLToPath(new URL('../support/endless-search.js', import.meta.url));
const settings = settingsWith({ store: 'lmdb:/nowhere' });
const searches = new StoreSearches(settings, ENDLESS);
const query = (id = 'id') => ({ in: 'log', id, hitsMax: 10 }) as const;

afterEach(() => searches.close());

/** Starts a search after the previous search's process has ended. */
async function next(id?: string): Promise<StoreSearch> {
  let search: StoreSearch | undefined;
  await until('another may begin', () => {
    search = searches.tryBegin(query(id));
    return search !== undefined;
  });
  return search as unknown as StoreSearch;
}

/** The process ID of a running search, and its further lines. */
async function begun(search: StoreSearch | undefined) {
  const lines = (search as StoreSearch).lines[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return { pid: Number(value?.type === 'hit' && value.hit.username), lines };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('only one search runs at a time; canceling it allows the next', async () => {
  const first = searches.tryBegin(query());
  assert.equal(searches.tryBegin(query()), undefined);
  const { pid, lines } = await begun(first);
  first?.stop();
  assert.deepEqual((await lines.next()).value, { type: 'failed', reason: 'the search was ended' });
  await until('its process has ended', () => !isRunning(pid));
  await next();
  first?.stop();
  assert.equal(searches.tryBegin(query()), undefined, 'the first one is no matter any more');
});

test('a process that ignores the cancel is killed before the next search begins', async () => {
  const search = await next('deaf');
  const { pid } = await begun(search);
  search.stop();
  assert.equal(searches.tryBegin(query()), undefined, 'no other one begins while it lives');
  await until('it has ended', () => !isRunning(pid));
});

test('a search ends if its parent process dies for any reason', async () => {
  const program = fileURLToPath(new URL('../support/searching-program.js', import.meta.url));
  const starter = endAfterTests(spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const [said] = (await once(starter.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  assert.ok(isRunning(pid));
  starter.kill('SIGKILL');
  await until('it has ended', () => !isRunning(pid));
});

test('a process that exits early is a failed search', async () => {
  const search = await next('broken');
  const lines = [];
  for await (const line of search.lines) lines.push(line);
  assert.deepEqual(lines.at(-1), { type: 'failed', reason: 'the search was ended' });
});

test('if the store refuses to open, the failed search gives the reason', async () => {
  const search = new StoreSearches(settings).tryBegin(query()) as StoreSearch;
  const lines = [];
  for await (const line of search.lines) if (line.type !== 'progress') lines.push(line);
  assert.match(JSON.stringify(lines), /^\[\{"type":"failed","reason":"there is no store at lmdb:\/nowhere/);
});
