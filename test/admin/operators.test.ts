import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rawRequest } from '../support/raw-request.js';
import { Scrape } from '../support/scrape.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = {
  operator: 'a-token-of-whoever-has-it',
  anna: 'a-token-of-anna-alone',
  auditor: 'a-token-of-the-auditor',
  prometheus: 'a-token-of-prometheus',
};

interface Answer {
  readonly status: number;
  readonly type: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the parsed body
  readonly body: any;
}

describe('operators have names and roles', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({
      'admin.token': TOKENS.operator,
      'admin.tokens': [
        { name: 'anna', role: 'operate', token: TOKENS.anna },
        { name: 'auditor', role: 'read', token: TOKENS.auditor },
        { name: 'prometheus', role: 'monitor', token: TOKENS.prometheus },
      ],
    });
  });
  after(() => node.close());

  const call = async (token: string | undefined, method: string, path: string, body?: unknown): Promise<Answer> => {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    if (body !== undefined)
      headers['Content-Type'] = path.endsWith(':import') ? 'application/x-ndjson' : 'application/json';
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(node.adminUrl + path, init);
    const text = await response.text();
    const isLines = path.endsWith(':import') && response.ok;
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: text === '' || isLines ? text : JSON.parse(text),
    };
  };

  const CHANGES: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['PUT', '/v1/players/pia', { currency: 'THB' }],
    ['POST', '/v1/players/pia/deposits', { id: 'd', amount: 10 }],
    ['POST', '/v1/players/pia/withdrawals', { id: 'w', amount: 1 }],
    ['POST', '/v1/players/pia/corrections', { id: 'c', amount: -2.5, reason: 'a slip' }],
    ['POST', '/v1/players/pia/block'],
    ['POST', '/v1/players/pia/unblock'],
    ['POST', '/v1/players:import', { id: 'o', username: 'imp', currency: 'THB', balance: 5 }],
  ];

  test('a request cannot choose the ID of an undo', async () => {
    const reserved = { id: 'walletd:undo:deposit:-10:d', amount: 1 };
    await call(TOKENS.anna, 'PUT', '/v1/players/uma', { currency: 'THB' });
    for (const path of ['deposits', 'withdrawals', 'corrections']) {
      const body = path === 'corrections' ? { ...reserved, reason: 'a trap' } : reserved;
      const { status, body: problem } = await call(TOKENS.anna, 'POST', `/v1/players/uma/${path}`, body);
      assert.equal(status, 400, path);
      assert.match(problem.detail, /^id must be .* that does not begin with walletd:$/);
    }
    const line = { ...reserved, username: 'uma2', currency: 'THB', balance: 1 };
    const imported = await call(TOKENS.anna, 'POST', '/v1/players:import', line);
    assert.match(imported.body, /"result":"refused","reason":"id must be .* does not begin with walletd:"/);
  });

  test("an undo's ID names its kind, amount and target, so a repeat moves nothing", async () => {
    await call(TOKENS.anna, 'PUT', '/v1/players/una', { currency: 'THB' });
    const undo = (undoes: object, more: object = {}) =>
      call(TOKENS.anna, 'POST', '/v1/players/una/corrections', { undoes, amount: 2.5, reason: 'a slip', ...more });
    const first = await undo({ type: 'credit', id: 'a:b', productId: 'SLOTS' });
    assert.equal(first.body.id, 'walletd:undo:credit:2.5:SLOTS:a%3Ab');
    const again = await undo({ type: 'credit', id: 'a:b', productId: 'SLOTS' });
    assert.deepEqual([again.status, again.body.balanceAfter], [200, first.body.balanceAfter]);
    const other = await undo({ type: 'credit', id: 'b', productId: 'SLOTS:a' });
    assert.deepEqual([other.body.balanceBefore, other.body.balanceAfter], [2.5, 5], 'another target');
    for (const [undoes, more, detail] of [
      [{ type: 'deposit', id: 'd' }, { id: 'c' }, 'id and undoes cannot be combined: an undo has its own id'],
      [{ type: 'deposit', id: 'd', productId: 'P' }, {}, 'undoes.productId must not be there for a deposit'],
      [{ type: 'reward', id: 'd' }, {}, 'undoes.productId must name the product of a reward'],
      [{ type: 'bet', id: 'd' }, {}, 'undoes/type must be one of deposit, withdrawal, import, credit, reward'],
    ] as const) {
      const refused = await undo(undoes, more);
      assert.deepEqual([refused.status, refused.body.detail], [400, detail]);
    }
  });

  test('the read role may only GET, and gets 403 for other methods', async () => {
    for (const [method, path, body] of [
      ...CHANGES,
      ['POST', '/v1/snapshots'],
      ['DELETE', '/nowhere'],
    ] as typeof CHANGES) {
      const answer = await call(TOKENS.auditor, method, path, body);
      assert.deepEqual([answer.status, answer.body.code], [403, 'forbidden'], path);
      assert.match(answer.type ?? '', /^application\/problem\+json/);
    }
    assert.equal((await call(TOKENS.auditor, 'GET', '/v1/players/pia')).status, 404, 'nothing was created');
    assert.equal((await call(TOKENS.auditor, 'GET', '/v1/transactions')).status, 200);
    assert.equal((await call(TOKENS.auditor, 'HEAD', '/v1/transactions')).status, 200);
  });

  test('the monitor role reads only routes without players and balances', async () => {
    const { paths } = (await call(TOKENS.anna, 'GET', '/openapi.json')).body;
    const operations = Object.entries<Record<string, unknown>>(paths)
      .filter(([, item]) => item.servers === undefined)
      .flatMap(([path, item]) => Object.keys(item).map((method) => [method.toUpperCase(), path] as const));
    const allowed: string[] = [];
    for (const [method, path] of operations) {
      const url = path.replace('{username}', 'pia').replaceAll(/\{\w+\}/g, '0');
      const response = await fetch(node.adminUrl + url, {
        method,
        headers: { Authorization: `Bearer ${TOKENS.prometheus}` },
      });
      await response.body?.cancel();
      if (response.status !== 403) allowed.push(`${method} ${path}`);
    }
    const monitored = [
      '/asyncapi.json',
      '/livez',
      '/metrics',
      '/openapi.json',
      '/readyz',
      '/v1/cluster',
      '/v1/cluster/moves',
      '/v1/snapshots',
    ];
    assert.deepEqual(
      allowed.sort(),
      monitored.map((path) => `GET ${path}`),
    );
    assert.ok((await call(TOKENS.prometheus, 'GET', '/readyz')).body.shards.length > 0);
    assert.equal((await call(TOKENS.prometheus, 'GET', '/console/live')).status, 403);
    assert.equal((await call(undefined, 'POST', '/console/session', { token: TOKENS.prometheus })).status, 403);
  });

  test('unknown callers get 401 as a problem on every route', async () => {
    for (const token of [undefined, 'wrong', `${TOKENS.anna}x`, TOKENS.anna.slice(1)]) {
      for (const [method, path, body] of [...CHANGES, ['GET', '/v1/players/pia/operations']] as typeof CHANGES) {
        const answer = await call(token, method, path, body);
        assert.deepEqual([answer.status, answer.body.code], [401, 'unauthorized'], path);
        assert.match(answer.type ?? '', /^application\/problem\+json/);
      }
    }
    assert.equal((await call(undefined, 'GET', '/livez')).status, 200);
  });

  test('refusals are logged in few lines, with reason and address', () => {
    const [first, ...more] = node.logLines.filter(({ code }) => code === 'operator-api-refused');
    assert.deepEqual(first, {
      level: 'warn',
      message: 'operator API requests refused',
      code: 'operator-api-refused',
      refused: { 'the role read': 1 },
      from: 'auditor at 127.0.0.1',
    });
    assert.deepEqual(more, [], 'one in 10 s');
    assert.doesNotMatch(JSON.stringify(node.logLines), /a-token-of/);
  });

  test("the API shows each operation's author, time, address and reason", async () => {
    const startMs = Date.now();
    for (const [method, path, body] of CHANGES) {
      const first = await call(TOKENS.anna, method, path, body);
      const again = await call(TOKENS.operator, method, path, body);
      assert.ok(first.status < 300 && again.status < 300, `${path} ${first.status} ${again.status}`);
      if (path.includes('deposits') || path.includes('corrections'))
        assert.deepEqual(again.body, { ...first.body, repeated: true });
    }
    await call(TOKENS.operator, 'POST', '/v1/players/pia/deposits', { id: 'd2', amount: 1 });
    const { status, body } = await call(TOKENS.auditor, 'GET', '/v1/players/pia/operations');
    assert.equal(status, 200);
    const by = { name: 'anna', address: '127.0.0.1' };
    const money = (type: string, id: string, amount: number, balanceBefore: number, balanceAfter: number) => {
      return { type, id, amount, balanceBefore, balanceAfter, by };
    };
    const times = body.operations.map((one: { timeMillis: number }) => one.timeMillis);
    assert.deepEqual(
      body.operations.map(({ timeMillis, ...one }: { timeMillis: number }) => one),
      [
        { ...money('deposit', 'd2', 1, 6.5, 7.5), by: { ...by, name: 'operator' } },
        { type: 'unblock', by },
        { type: 'block', by },
        { ...money('correction', 'c', -2.5, 9, 6.5), reason: 'a slip' },
        money('withdrawal', 'w', 1, 10, 9),
        money('deposit', 'd', 10, 0, 10),
        { type: 'create', by },
      ],
    );
    assert.ok(times.every((timeMs: number) => timeMs >= startMs && timeMs <= Date.now()));
    assert.deepEqual(
      [...times].sort((a, b) => b - a),
      times,
      'newest first',
    );
    const imported = await call(TOKENS.auditor, 'GET', '/v1/players/imp/operations');
    assert.deepEqual(
      imported.body.operations.map((one: { type: string; by: object }) => [one.type, one.by]),
      [['import', by]],
    );
  });

  test('a reason has 1 to 500 characters and is not blank', async () => {
    await call(TOKENS.anna, 'PUT', '/v1/players/ria', { currency: 'THB' });
    const correct = async (id: string, reason: unknown, over: object = {}) =>
      (await call(TOKENS.anna, 'POST', '/v1/players/ria/corrections', { id, amount: 1, reason, ...over })).status;
    for (const reason of [undefined, null, '', '  ', 5, 'x'.repeat(501), '\ud800']) {
      assert.equal(await correct('no', reason), 400, String(reason));
    }
    for (const [i, reason] of ['x', '🎲'.repeat(500)].entries()) assert.equal(await correct(`yes${i}`, reason), 200);
    assert.equal(await correct('no', 'why', { allowNegativeBalance: 'yes' }), 400);
    assert.equal(await correct('no', 'why', { id: '' }), 400);
    const { body } = await call(TOKENS.auditor, 'GET', '/v1/players/ria/operations?limit=1');
    assert.equal(body.operations[0].reason, '🎲'.repeat(500));
    assert.equal(typeof body.next, 'string');
  });

  test("an operation's author survives a restart", async () => {
    await call(TOKENS.anna, 'PUT', '/v1/players/sue', { currency: 'THB' });
    await node.restart();
    const { body } = await call(TOKENS.auditor, 'GET', '/v1/players/sue/operations');
    assert.deepEqual(body.operations[0].by, { name: 'anna', address: '127.0.0.1' });
  });
});

test("without a token the operator's name is local", async () => {
  const node = await TestNode.start();
  try {
    const init = { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{"currency":"THB"}' };
    await fetch(`${node.adminUrl}/v1/players/ann`, init);
    const page = (await (await fetch(`${node.adminUrl}/v1/players/ann/operations`)).json()) as {
      operations: { by: object }[];
    };
    assert.deepEqual(page.operations[0]?.by, { name: 'local', address: '127.0.0.1' });
  } finally {
    await node.close();
  }
});

test('without a token, no web site can misuse a browser on this machine', async () => {
  const node = await TestNode.start();
  try {
    const { host } = new URL(node.adminUrl);
    const status = async (path: string, headers: readonly string[], method = 'POST') => {
      const lines = [`${method} ${path} HTTP/1.1`, ...headers, 'Content-Length: 0', 'Connection: close'];
      const received = await rawRequest(node.adminUrl, [`${lines.join('\r\n')}\r\n\r\n`]);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]);
    };
    const block = '/v1/players/ann/block';
    for (const headers of [
      [`Host: ${host}`, 'Origin: http://casino.example'],
      [`Host: ${host}`, 'Origin: null'],
      [`Host: casino.example:${new URL(node.adminUrl).port}`],
      ['Host: 127.0.0.1.casino.example'],
    ]) {
      assert.equal(await status(block, headers), 401, headers.join());
      assert.equal(await status('/v1/transactions', headers, 'GET'), 401);
      assert.equal(await status('/livez', headers, 'GET'), 200);
    }
    assert.equal(await status(block, [`Host: ${host}`]), 404);
    assert.equal(await status(block, [`Host: ${host}`, `Origin: http://${host}`]), 404);
    for (const name of ['localhost', 'LOCALHOST:1', '[::1]:3001'])
      assert.equal(await status(block, [`Host: ${name}`]), 404);
    const [line] = node.logLines.filter(({ code }) => code === 'operator-api-refused');
    assert.match(JSON.stringify(line?.refused), /"it has Origin, which a browser adds: without admin.token [^"]+":1/);
  } finally {
    await node.close();
  }
});

test('requests are counted by route and status, refusals by reason', async () => {
  const node = await TestNode.start({ 'admin.token': TOKENS.operator, 'admin.tokens': [] });
  const headers = { Authorization: `Bearer ${TOKENS.operator}` };
  try {
    const ask = async (path: string, init: RequestInit = { headers }) => {
      await (await fetch(node.adminUrl + path, init)).text();
    };
    for (const name of ['pia', 'pit']) await ask(`/v1/players/${name}`);
    await ask('/nowhere');
    await ask('/v1/players/pia', {});
    await ask('/v1/players/pia', { headers: { Authorization: 'Bearer wrong' } });
    const scrape = await Scrape.of(node.adminUrl, headers);
    const requests = (route: string, status: string) =>
      scrape.value('walletd_operator_requests_total', { route, status });
    assert.equal(requests('GET /v1/players/{username}', '404'), 2);
    assert.equal(requests('GET /v1/players/{username}', '401'), 2);
    assert.equal(requests('other', '404'), 1);
    const refused = (reason: string) => scrape.value('walletd_operator_refused_total', { reason });
    assert.deepEqual([refused('no token'), refused('wrong token'), refused('the role read')], [1, 1, 0]);
  } finally {
    await node.close();
  }
});
