import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Logger, silentLogger } from '../../src/base/logger.js';
import { FeedProcess } from '../../src/node/jobs/feed/feed-process.js';
import { settingsWith } from '../support/settings.js';
import { until } from '../support/until.js';

const PROGRAM = fileURLToPath(new URL('./counting-feed-program.js', import.meta.url));
const WARM_MS = 10;
const NEVER = new AbortController().signal;

function startWith(
  t: TestContext,
  hasFeeds: () => Promise<boolean>,
  program = PROGRAM,
  log: Logger = silentLogger,
): FeedProcess {
  const feeds = new FeedProcess(settingsWith({ store: 'lmdb:/nowhere' }), log, hasFeeds, program, WARM_MS);
  t.after(() => feeds.close());
  return feeds;
}

function children(): number[] {
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

async function loadsOf(feeds: FeedProcess): Promise<number> {
  const answer = await feeds.ask({ type: 'list' }, NEVER);
  assert.ok(answer.type === 'failed', answer.type);
  return Number(answer.reason);
}

test('no process starts without feeds, during an outage or after the end', async (t) => {
  let looks = 0;
  const answers = [
    async () => false,
    () => Promise.reject(new Error('the store is away')),
    () => delay(2 * WARM_MS, true),
  ];
  const feeds = startWith(t, async () => await (answers[looks++] as () => Promise<boolean>)());
  await until('the third look is under way', () => looks === 3);
  feeds.close();
  await delay(4 * WARM_MS);
  assert.deepEqual(children(), []);
  assert.equal(looks, 3);
});

test('while the store has feeds, the process loads without a request', async (t) => {
  let hasFeeds = true;
  let looks = 0;
  const feeds = startWith(t, async () => {
    looks++;
    return hasFeeds;
  });
  const [pid = 0] = await until('a process starts', () => children().length > 0 && children());
  await until('it loads again and again', async () => (await loadsOf(feeds)) > 2);
  process.kill(pid, 'SIGKILL');
  await until('another process starts', () => children().some((child) => child !== pid));
  hasFeeds = false;
  const looked = looks;
  await until('the store was looked at twice more', () => looks > looked + 2);
  const loads = await loadsOf(feeds);
  const later = looks;
  await until('the store was looked at again', () => looks > later + 2);
  assert.equal(await loadsOf(feeds), loads, 'no load without feeds');
});

test('the damage of a log is logged once, with its reason', async (t) => {
  const lines: unknown[] = [];
  const log = { ...silentLogger, error: (fields: object) => void lines.push(fields) };
  const feeds = startWith(t, async () => false, PROGRAM, log);
  // The program finds the shard `limit` damaged.
  for (const limit of [3, 3, 4, 3]) {
    await feeds.ask({ type: 'read', name: 'crm', after: undefined, limit, waitMs: 0 }, NEVER);
  }
  const code = 'feed-shard-damaged';
  assert.deepEqual(
    lines,
    [3, 4].map((shard) => ({ code, shard, reason: 'the log cannot be read' })),
  );
});

test('a process that cannot be started is tried again', async (t) => {
  let looks = 0;
  const hasFeeds = async () => ++looks > 0;
  // Node throws synchronously, as it does when the system has no memory for another process.
  startWith(t, hasFeeds, '\0');
  await until('two starts failed', () => looks > 2);
});
