import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../src/simulate/cases/all.js';
import { check } from '../../src/simulate/check.js';
import { curlLines, historyLines, ruleOf } from '../../src/simulate/explain.js';
import { bodyOf, type Message } from '../../src/simulate/message.js';
import { BY_ROUND, Platform, SKIP } from '../../src/simulate/platform.js';
import type { Deviation } from '../../src/simulate/play.js';
import { DEFAULT_PROFILE } from '../../src/simulate/profile.js';
import { escaped } from '../../src/simulate/report/escaped.js';
import { htmlOf } from '../../src/simulate/report/html.js';
import { junitOf } from '../../src/simulate/report/junit.js';
import type { Result } from '../../src/simulate/result.js';
import { atReferenceOperator, SECRET } from './at-reference-operator.js';
import { MUTANTS } from './mutants.js';
import { runInShell } from './run-in-shell.js';

const CASE = 'settleBets: first answer again, at once and after others';
const mutant = MUTANTS.find(({ bug }) => bug === 'a settle pays each time');
const URL = 'http://operator.example/<cb>';

function deviationOf(results: readonly Result[]): Deviation {
  const deviation = results.find(({ name }) => name === CASE)?.deviation;
  assert.ok(deviation);
  return deviation;
}

test('a random history is attributed to the rule of its last message', () => {
  const p = new Platform();
  const rule = (...messages: readonly Message[]) => {
    const player = { username: 'ann', currency: 'THB', balance: 1000 };
    const history = messages.map((message) => {
      const { endpoint, signature } = message;
      return { endpoint, path: '/', body: bodyOf(message, player, 'P', 0), signature, how: 'plain' as const };
    });
    return ruleOf({ player, history, expected: [], balances: { before: [], after: [] }, signs: false });
  };
  const bet = p.bet('b1', 5);
  assert.equal(rule(bet), 'stake');
  assert.equal(rule(bet, bet), 'repeats');
  assert.equal(rule(p.bet('b1', 5, SKIP)), 'skip');
  assert.equal(rule(p.bet('b1', 5, { status: 'WAITING' })), 'waiting');
  assert.equal(rule(p.array(bet, bet)), 'arrays');
  assert.equal(rule(bet, p.settle('b1', 5)), 'payout');
  assert.equal(rule(bet, p.settle('s1', 5, BY_ROUND)), 'byRound');
  assert.equal(rule(p.single('b1', 5, 5)), 'singleState');
  assert.equal(rule(bet, p.cancel('b1', 5, BY_ROUND)), 'cancel');
  assert.equal(rule(p.balance()), 'balance');
});

test('a deviation has its history and curl commands that reproduce it', async () => {
  await atReferenceOperator({ mutant }, async (table, players, url) => {
    const deviation = deviationOf(
      await check(
        table,
        players,
        CASES.filter(({ name }) => name === CASE),
      ),
    );
    const reported = historyLines(deviation, DEFAULT_PROFILE.decimals);
    assert.equal(reported.length, 4, 'a bet, its settle, the repeat, and what was expected');
    assert.match(reported[0] as string, /^\/placeBets \{"id":"q1","currency":"THB","txns":\[\{"id":"b1",/);
    assert.match(reported[2] as string, /"balanceBefore":1150,"balanceAfter":1400/);
    assert.equal(reported[3], '  expected: 0 success, 900 -> 1150');

    const lines = curlLines(deviation, url).map((line) => line.replace(/^PLAYER=.*/, 'PLAYER=simulation-another'));
    assert.ok(!lines.join('\n').includes(SECRET));
    const answers = await runInShell(lines);
    assert.deepEqual(
      answers.map(({ balanceBefore, balanceAfter, username }) => [balanceBefore, balanceAfter, username]),
      [
        [1000, 900, 'simulation-another'],
        [900, 1150, 'simulation-another'],
        [1150, 1400, 'simulation-another'],
      ],
    );
  });
});

test('curl commands send old, wrong and missing signatures as they were sent', async () => {
  const p = new Platform();
  const history = (['right', 'old', 'wrong', 'missing'] as const).map((signature) => {
    const message = p.bet(signature, 1);
    const { endpoint } = message;
    const player = { username: 'ann', currency: 'THB', balance: 1000 };
    const body = bodyOf(message, player, DEFAULT_PROFILE.productId, Date.now());
    return { endpoint, path: '/placeBets', body, signature, how: 'plain' as const };
  });
  await atReferenceOperator({}, async (_table, players, url) => {
    const player = { ...(await players.take()), username: 'ann' };
    const lines = curlLines({ player, history, expected: [], balances: { before: [], after: [] }, signs: true }, url);
    const answers = await runInShell(lines.map((line) => line.replace(/^PLAYER=.*/, 'PLAYER=simulation-1')));
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [0, 30002, 30002, 30002],
    );
  });
});

test('reports contain every case and each difference in full, and are well-formed', async () => {
  const results = await atReferenceOperator({ mutant }, (table, players) =>
    check(
      table,
      players,
      CASES.filter(({ rule }) => rule === 'repeats'),
    ),
  );
  const counts = { differs: 0, agrees: 0, unknown: 0, skipped: 0, known: 0 };
  for (const { verdict } of results) counts[verdict]++;
  assert.ok(counts.differs > 0 && counts.agrees > 0);

  const xml = junitOf(results, URL, DEFAULT_PROFILE);
  assert.ok(xml.includes(`<testsuite name="walletd simulate" tests="${results.length - counts.differs}" failures="0"`));
  assert.match(xml, /<testsuite name="walletd simulate: Money is wrong" tests="\d+" failures="\d+"/);
  assert.equal(xml.match(/<testcase /g)?.length, results.length);
  const followUps = results.filter(({ isSetUp }) => isSetUp).length;
  assert.equal(xml.match(/<failure /g)?.length, counts.differs - followUps);
  assert.equal(xml.match(/<skipped message="follow-up: /g)?.length ?? 0, followUps);
  assert.doesNotMatch(xml, /<cb>/);

  const html = htmlOf(results, URL, DEFAULT_PROFILE);
  assert.match(
    html,
    /^<!doctype html>[\s\S]*<h1>http:\/\/operator\.example\/&lt;cb&gt;: <span class="differs">differs<\/span><\/h1>/,
  );
  assert.equal(html.match(/<li>/g)?.length, results.length);
  assert.match(html, /<b>100 callbacks of each finding about money would cost the operator [\d,]+ THB\.<\/b>/);
  assert.match(
    html,
    /<summary>settleBets moves its money again when it is repeated <small>\d+ cases?; 100 callbacks cost the operator [\d,]+ THB<\/small>/,
  );
  assert.doesNotMatch(html, /(?:src|href)="(?!#)/, 'it needs nothing else');
});

test('a page with 150 findings has less than 200 kB', async () => {
  await atReferenceOperator({ mutant }, async (table, players) => {
    const cases = CASES.filter(({ name }) => name === CASE);
    const deviation = deviationOf(await check(table, players, cases));
    const results = Array.from({ length: 150 }, (_, n): Result => {
      const name = `a field is missing, and this is the sentence of a long name of a case: ${n}`;
      return { rule: 'shape', name, verdict: 'differs', deviation, messages: 4 };
    });
    const html = htmlOf(results, URL, DEFAULT_PROFILE);
    assert.ok(Buffer.byteLength(html) < 200_000, `${Buffer.byteLength(html)} bytes`);
    assert.equal(html.match(/<details><summary>a field is missing/g)?.length, 150);
    assert.match(html, /<pre># needs a player/);
    assert.match(html, /<p>This page leaves out the history because of its size\./);
  });
});

test('requests that were sent until they were answered are one line', () => {
  const body = '{"id":"ann-q1","txns":[]}';
  const sent = {
    endpoint: 'placeBets' as const,
    path: '/placeBets',
    body,
    signature: undefined,
    how: 'plain' as const,
  };
  const reply = { status: 503, fields: {}, text: 'busy' };
  const stated = { code: 0, before: 1, after: 1 };
  const history = [
    { ...sent, reply },
    { ...sent, reply },
    { ...sent, reply: { ...reply, status: 200, text: 'ok' }, stated },
  ];
  const player = { username: 'ann', currency: 'THB', balance: 1000 };
  const deviation = { player, history, expected: [], balances: { before: [], after: [] }, signs: false };
  const sending = curlLines(deviation, 'http://a').filter((line) => line.startsWith('curl '));
  assert.equal(sending.length, 1);
  assert.match(sending[0] ?? '', /# sent 3 times, and answered at last: ok$/);
  assert.match(historyLines(deviation, 2)[0] ?? '', /^\/placeBets \(sent 3 times\)/);
  const repeated = {
    ...deviation,
    history: [
      { ...sent, reply, stated },
      { ...sent, reply, stated },
    ],
  };
  assert.equal(curlLines(repeated, 'http://a').filter((line) => line.startsWith('curl ')).length, 2);
});

test('markup and characters that XML cannot hold are escaped', () => {
  assert.equal(escaped('<a b="c">&\u0000\ud800😀'), '&lt;a b=&quot;c&quot;&gt;&amp;\ufffd\ufffd😀');
});

test('the script of a deviation keeps a multi-line answer within its comment', () => {
  const text = '{"statusCode": 99999,\ntouch /tmp/somewhere\n}';
  const sent = {
    path: '/checkBalance',
    endpoint: 'checkBalance',
    body: '{"id":"1"}',
    how: 'plain',
    signature: undefined,
  };
  const history = [{ ...sent, reply: { status: 200, fields: {}, text } }];
  const player = { username: 'ann', currency: 'THB', balance: 1 };
  const deviation = { history, player, signs: false, expected: [] } as unknown as Parameters<typeof curlLines>[0];
  assert.match(
    curlLines(deviation, 'http://127.0.0.1:1').at(-1) ?? '',
    /# \{"statusCode": 99999, touch \/tmp\/somewhere \}$/,
  );
});
