import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { type SignedOut, SignedOutSessions } from '../../src/admin/console/signed-out-sessions.js';
import { SignedOutRecord } from '../../src/node/folder/signed-out-record.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestCluster } from '../support/test-cluster.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const TOKEN = 'a-token-of-anna-alone';
const SETTINGS = { 'admin.tokens': [{ name: 'anna', role: 'operate', token: TOKEN }] };

async function signIn({ adminUrl }: TestNode): Promise<string> {
  const response = await fetch(`${adminUrl}/console/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: TOKEN }),
  });
  return (response.headers.get('set-cookie') ?? '').split(';')[0] as string;
}

async function statusOf({ adminUrl }: TestNode, cookie: string, path = '/v1/players'): Promise<number> {
  const response = await fetch(adminUrl + path, { headers: { cookie } });
  await response.body?.cancel();
  return response.status;
}

async function signOut({ adminUrl }: TestNode, cookie: string): Promise<void> {
  const { status } = await fetch(`${adminUrl}/console/session`, { method: 'DELETE', headers: { cookie } });
  assert.equal(status, 200);
}

test('a sign-out invalidates a stolen cookie immediately, even after a restart', async () => {
  const node = await TestNode.start(SETTINGS);
  try {
    const [stolen, other] = [await signIn(node), await signIn(node)];
    const live = await fetch(`${node.adminUrl}/console/live`, { headers: { cookie: stolen } });
    assert.equal(await statusOf(node, stolen), 200);
    await signOut(node, stolen);
    const seen = async () => [
      await statusOf(node, stolen),
      await statusOf(node, stolen, '/console/session'),
      await statusOf(node, stolen, '/console/live'),
      await statusOf(node, other),
    ];
    assert.deepEqual(await seen(), [401, 401, 401, 200]);
    await live.text(); // Waits until the stream ends.
    await node.restart();
    assert.deepEqual(await seen(), [401, 401, 401, 200]);
  } finally {
    await node.close();
  }
});

test('a sign-out reaches all nodes, including those that join later', async () => {
  const cluster = await TestCluster.start(2, SETTINGS);
  try {
    const [first, second] = cluster.nodes as [TestNode, TestNode];
    const [stolen, other] = [await signIn(first), await signIn(second)];
    await until('the nodes know the session', async () => (await statusOf(second, stolen)) === 200);
    await signOut(first, stolen);
    await until('the other node refuses it', async () => (await statusOf(second, stolen)) === 401);
    const third = await cluster.add(2);
    await until('the new node refuses it', async () => (await statusOf(third, stolen)) === 401);
    assert.deepEqual([await statusOf(first, other), await statusOf(third, other)], [200, 200]);
  } finally {
    await cluster.close();
  }
});

function sessionsOf(known: readonly SignedOut[] = []) {
  const time = { nowMs: 1000 };
  const reported: SignedOut[] = [];
  const clock = { now: () => time.nowMs, monotonicMs: () => time.nowMs };
  const sessions = new SignedOutSessions(known, { send: (news) => reported.push(...news), keep() {}, clock });
  return { sessions, reported: reported, time };
}

test('at the sign-out limit, no sign-out is forgotten and other operators are unaffected', () => {
  const { sessions } = sessionsOf();
  sessions.add('bob', 'of-bob', 2000);
  for (let n = 0; n < 10_000; n++) sessions.add('anna', `s${n}`, 100_000 + n);
  const held = sessions.all.reduce((sum, one) => sum + one.sessions.length, 0);
  assert.ok(held <= 101, `${held} are held`);
  for (let n = 0; n < 10_000; n++) assert.ok(sessions.has('anna', `s${n}`, 100_000 + n), `s${n}`);
  assert.equal(sessions.has('anna', 'begun-later', 200_000), false);
  assert.deepEqual([sessions.has('bob', 'of-bob', 2000), sessions.has('bob', 'older', 1500)], [true, false]);
});

test('sign-outs are forgotten when their sessions would have expired', () => {
  const { sessions, time } = sessionsOf();
  for (let n = 0; n < 200; n++) sessions.add('anna', `s${n}`, 5000 + n);
  assert.notDeepEqual(sessions.all, []);
  time.nowMs = 6000;
  assert.deepEqual(sessions.all, []);
});

test('nodes forward only sign-outs that are new to them', () => {
  const [first, second] = [sessionsOf(), sessionsOf()];
  first.sessions.add('anna', 'a', 5000);
  second.sessions.note(first.reported);
  assert.equal(second.sessions.has('anna', 'a', 5000), true);
  first.sessions.note(second.reported);
  second.sessions.note(first.sessions.all);
  assert.deepEqual([first.reported.length, second.reported.length], [1, 1]);
});

test('a damaged sign-out file causes a warning, not a failed start', () =>
  inTempFolder(async (folder) => {
    const warnings: object[] = [];
    const log = { debug() {}, info() {}, warn: (fields: object) => warnings.push(fields), error() {} };
    const record = new SignedOutRecord(folder, 'lmdb:x', log);
    assert.deepEqual(record.read(), []);
    const all = [{ name: 'anna', untilMs: 0, sessions: [['a', 5000]] }] as const;
    record.write(all);
    assert.deepEqual(record.read(), all);
    const [file = ''] = readdirSync(folder);
    const text = readFileSync(`${folder}/${file}`, 'utf8');
    for (const damaged of [text.slice(1), '{"signedOut":[{"name":"anna"}]}', 'null']) {
      writeFileSync(`${folder}/${file}`, damaged);
      assert.deepEqual(record.read(), []);
    }
    assert.equal(warnings.length, 3);
  }));
