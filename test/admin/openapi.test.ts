import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ENDPOINTS } from '../../src/callback/callbacks.js';
import { linesUntil } from '../feed/lines-until.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { bet, importPlayers, settlement } from '../support/client.js';
import { METHODS, NDJSON, OpenApiDocument } from '../support/openapi-document.js';
import { TestCluster } from '../support/test-cluster.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';
import { ROOT } from '../tidy/pages.js';

const READ_TOKEN = 'a-token-of-the-auditor';
const ENVELOPE = { timestampMillis: 1, productId: 'P', currency: 'THB', username: 'ann' };
const GAME = { gameCode: 'g', playInfo: 'p' };

/**
 * `REWRITE=1` writes this file, which integrators read, and from which they generate clients, without a running
 * walletd.
 */
const PUBLISHED = join(ROOT, 'docs/openapi.json');

/** One well-formed request per endpoint, whether the domain accepts or rejects it. */
const CALLBACKS: Readonly<Record<string, object>> = {
  placeBets: bet('ann', 'b1', 10),
  settleBets: settlement('ann', 'b1', 25),
  adjustBets: { id: 'a', ...ENVELOPE, txns: [{ id: 'b1', roundId: 'r-b1', status: 'OPEN', betAmount: 5, ...GAME }] },
  voidSettled: {
    id: 'v',
    ...ENVELOPE,
    txns: [
      {
        id: 'b1',
        roundId: 'r-b1',
        status: 'VOID',
        betAmount: 10,
        payoutAmount: 25,
        transactionType: 'BY_TRANSACTION',
        ...GAME,
      },
    ],
  },
  cancelBets: {
    id: 'c',
    ...ENVELOPE,
    txns: [{ id: 'b1', roundId: 'r-b1', status: 'REFUND', betAmount: 1, transactionType: 'BY_ROUND', ...GAME }],
  },
  checkBalance: { id: 'c', ...ENVELOPE },
  rollback: {
    id: 'r',
    ...ENVELOPE,
    txns: [
      { id: 'b1', roundId: 'r-b1', status: 'ROLLBACK', betAmount: 5, payoutAmount: 0, transactionType: 'BY_ROUND' },
    ],
  },
  cancelTips: { id: 't', ...ENVELOPE, txns: [{ id: 'tip', roundId: 'r-tip', status: 'REFUND', betAmount: 2 }] },
  placeTips: { id: 'p', ...ENVELOPE, txns: [{ id: 'tip2', roundId: 'r-tip', status: 'TIPS', betAmount: 2 }] },
  winRewards: { id: 'w', ...ENVELOPE, txns: [{ id: 'b1', roundId: 'r-b1', status: 'SETTLED', payoutAmount: 2 }] },
  adjustBalance: { id: 'm', ...ENVELOPE, txns: [{ refId: 'b1', status: 'CREDIT', amount: 2 }] },
};

describe('GET /openapi.json', () => {
  let node: TestNode;
  let document: OpenApiDocument;
  /** Answers that have matched the document so far, as `operation status`. */
  const seen = new Set<string>();

  before(async () => {
    const byHand = { amountMaxima: {}, dayMaxima: {}, perMinute: null, approveAbove: { USD: 10 }, approvalHours: 1 };
    node = await TestNode.start({
      'limits.bodyBytesMax': 4096,
      'admin.token': null,
      'tips.unknown': 'credit',
      'money.byHand': byHand,
    });
    document = await OpenApiDocument.of(node.adminUrl);
  });
  after(() => node.close());

  /** Checks one answer against the document. `path` is the path in the document. */
  async function check(method: string, path: string, response: Response): Promise<string> {
    const { status, headers } = response;
    const text = await response.text();
    const answer = { status, contentType: headers.get('content-type') ?? '', text };
    assert.equal(document.findComplaint(method, path, answer), undefined);
    seen.add(`${document.content.paths[path]?.[method]?.operationId} ${status}`);
    return text;
  }

  const json = { 'Content-Type': 'application/json' };

  async function admin(method: string, path: string, url: string, body?: string, headers = json): Promise<string> {
    const init =
      body === undefined ? { method: method.toUpperCase() } : { method: method.toUpperCase(), body, headers };
    return await check(method, path, await fetch(node.adminUrl + url, init));
  }

  async function callback(endpoint: string, body: string, method = 'post'): Promise<string> {
    const init = method === 'get' ? { method } : { method, body };
    return await check('post', `/${endpoint}`, await fetch(`${node.callbackUrl}/${endpoint}`, init));
  }

  test('the document is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document.content) as never);
    assert.ok(valid, JSON.stringify(errors));
    assert.match((document.content as unknown as { openapi: string }).openapi, /^3\.1\./);
  });

  test('docs/openapi.json is what a walletd with default settings serves', async () => {
    const text = JSON.stringify(document.content, null, 2);
    // Tests listen on a free port.
    const served = `${text.replaceAll(/("port": \{\s+"default": )"0"/g, '$1"3000"')}\n`;
    if (process.env.REWRITE === '1') writeFileSync(PUBLISHED, served);
    else assertSameLines(served, readFileSync(PUBLISHED, 'utf8'));
  });

  test('an OpenAPI linter finds no problem', async () => {
    const { createConfig, lintFromString } = await import('@redocly/openapi-core');
    const config = await createConfig({ extends: ['recommended'] });
    const source = JSON.stringify(document.content);
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    assert.deepEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    );
  });

  test('the document allows a bet of 0 and limits decimals', () => {
    const isValid = document.schemaAt('components', 'schemas', 'PlaceBets');
    const placed = bet('ann', 'b1', 0);
    assert.deepEqual(
      [isValid(bet('ann', 'b1', 10)), isValid(placed), isValid(bet('ann', 'b1', -1))],
      [true, true, false],
    );
    const { schemas } = (document.content as unknown as { components: { schemas: Record<string, object> } }).components;
    for (const name of ['PlaceBets', 'SettleBets', 'AdjustBets', 'VoidSettled']) {
      assert.match(
        JSON.stringify(schemas[name]),
        /An amount with more decimals than the currency has \(money\.scales\) is malformed/,
      );
    }
  });

  test("the document's callback examples are accepted unchanged", async () => {
    const funded = await TestNode.start();
    try {
      await importPlayers(funded.adminUrl, ['ann'], 1000);
      for (const endpoint of ENDPOINTS) {
        const content = document.content.paths[`/${endpoint}`]?.post?.requestBody?.content['application/json'];
        const body = JSON.stringify((content as unknown as { example: object }).example);
        const response = await fetch(`${funded.callbackUrl}/${endpoint}`, { method: 'POST', body });
        assert.equal(response.status, 200, endpoint);
      }
    } finally {
      await funded.close();
    }
  });

  test("the document has every callback, and exactly the operator API's routes", () => {
    const paths = Object.keys(document.content.paths);
    assert.deepEqual(
      paths.filter((path) => !/^\/(v1|livez|readyz|metrics|openapi|asyncapi)/.test(path)),
      ENDPOINTS.map((endpoint) => `/${endpoint}`),
    );
  });

  test("the operator API's answers match the document", async () => {
    const player = '/v1/players/{username}';
    await admin('put', player, '/v1/players/ann', '{"currency":"THB"}');
    await admin('put', player, '/v1/players/ann', '{"currency":"THB"}');
    await admin('put', player, '/v1/players/ann', '{"currency":"EUR"}');
    await admin('put', player, '/v1/players/ann', '{');
    await admin('put', player, '/v1/players/ann', `"${'x'.repeat(70_000)}"`);
    await admin('put', player, '/v1/players/ann', 'x', { 'Content-Type': 'text/csv' });
    await admin('get', player, '/v1/players/ann');
    await admin('get', player, '/v1/players/nobody');
    for (const [path, first] of [
      ['deposits', '{"id":"d","amount":1000.5}'],
      ['withdrawals', '{"id":"w","amount":0.5}'],
    ] as const) {
      await admin('post', `${player}/${path}`, `/v1/players/ann/${path}`, first);
      await admin('post', `${player}/${path}`, `/v1/players/ann/${path}`, first.replace('.5', '.25'));
      await admin('post', `${player}/${path}`, `/v1/players/ann/${path}`, '{"id":"x","amount":0}');
      await admin('post', `${player}/${path}`, `/v1/players/nobody/${path}`, first);
    }
    const correction = '{"id":"c","amount":-3.25,"reason":"paid twice"}';
    for (const [username, text] of [
      ['ann', correction],
      ['ann', correction.replace('-3.25', '-4')],
      ['ann', correction.replace('paid twice', '')],
      ['nobody', correction],
    ] as const) {
      await admin('post', `${player}/corrections`, `/v1/players/${username}/corrections`, text);
    }
    for (const action of ['block', 'unblock']) {
      await admin('post', `${player}/${action}`, `/v1/players/ann/${action}`);
      await admin('post', `${player}/${action}`, `/v1/players/nobody/${action}`);
    }
    for (const username of ['ann', 'nobody']) {
      const path = `/v1/players/${username}/session`;
      await admin('put', `${player}/session`, path, '{"token":"a-token","endMillis":5}');
      await admin('put', `${player}/session`, path, '{"token":"a-token"}');
      await admin('delete', `${player}/session`, path);
    }
    await admin('put', `${player}/session`, '/v1/players/ann/session', '{"token":""}');
    await admin('put', player, '/v1/players/rich', '{"currency":"USD"}');
    const wish = '{"id":"big","amount":11,"reason":"a prize"}';
    await admin('post', `${player}/corrections`, '/v1/players/rich/corrections', wish);
    await admin('post', `${player}/deposits`, '/v1/players/rich/deposits', '{"id":"large","amount":12}');
    const { approvals } = JSON.parse(await admin('get', '/v1/approvals', '/v1/approvals?limit=5'));
    assert.equal(approvals.length, 2);
    await admin('get', '/v1/approvals', '/v1/approvals?limit=0');
    for (const action of ['approve', 'refuse', 'refuse']) {
      await admin('post', `/v1/approvals/{id}/${action}`, `/v1/approvals/${approvals[0].id}/${action}`);
      await admin('post', `/v1/approvals/{id}/${action}`, `/v1/approvals/nothing/${action}`);
    }
    await admin('post', '/v1/approvals/{id}/approve', `/v1/approvals/${approvals[0].id}/approve`);
    const operations = `${player}/operations`;
    assert.equal(JSON.parse(await admin('get', operations, '/v1/players/ann/operations')).operations.length, 6);
    await admin('get', operations, '/v1/players/ann/operations?limit=1');
    await admin('get', operations, '/v1/players/ann/operations?limit=0');
    await admin('get', operations, '/v1/players/nobody/operations');
    await admin('get', '/v1/operations', '/v1/operations?by=local&limit=2');
    await admin('get', '/v1/operations', '/v1/operations?type=none');
    const lines = ['bob', 'bob', ''].map((name) => `{"id":"o","username":"${name}","currency":"THB","balance":5}`);
    await admin('post', '/v1/players:import', '/v1/players:import', lines.join('\n'), { 'Content-Type': NDJSON });
    await admin('post', '/v1/players:import', '/v1/players:import', '{}');
    await admin('post', '/v1/players:import', '/v1/players:import', '{}{}');
    await admin('post', '/v1/snapshots', '/v1/snapshots');
    assert.ok(JSON.parse(await admin('get', '/v1/snapshots', '/v1/snapshots')).snapshots.length > 0);
    await admin('get', '/v1/players', '/v1/players?prefix=a');
    await admin('get', '/v1/players', '/v1/players?limit=0');
    await admin('get', '/v1/shards/{shard}/players', '/v1/shards/0/players');
    await admin('get', '/v1/shards/{shard}/players', '/v1/shards/0/players?limit=0');
    await admin('get', '/v1/shards/{shard}/players', '/v1/shards/9999/players');
    for (const body of ['{}', '{"deep":true}', '{"deep":1}']) await admin('post', '/v1/verify', '/v1/verify', body);
    const running = async () => JSON.parse(await (await fetch(`${node.adminUrl}/v1/verify`)).text()).running;
    await until('the store has been verified', async () => (await running()) === null);
    await admin('get', '/v1/verify', '/v1/verify');
    await admin('get', '/v1/money', '/v1/money?days=2');
    await admin('get', '/v1/money', '/v1/money?days=0');
    for (const path of ['/livez', '/readyz', '/metrics', '/openapi.json', '/asyncapi.json', '/v1/settings'])
      await admin('get', path, path);
  });

  test('the answers about feeds match the document', async () => {
    const feed = '/v1/feeds/{name}';
    for (const body of ['{"name":"crm","from":"start"}', '{"name":"crm","from":"start"}', '{"name":"crm"}', '{}'])
      await admin('post', '/v1/feeds', '/v1/feeds', body);
    await admin('get', '/v1/feeds', '/v1/feeds');
    const { next, events } = JSON.parse(await admin('get', `${feed}/events`, '/v1/feeds/crm/events'));
    assert.ok(events.length > 0);
    for (const query of ['limit=0', 'after=x']) await admin('get', `${feed}/events`, `/v1/feeds/crm/events?${query}`);
    const stream = await fetch(`${node.adminUrl}/v1/feeds/crm/stream`);
    const [line] = await linesUntil(stream, ({ length }) => length > 0);
    const answer = {
      status: stream.status,
      contentType: stream.headers.get('content-type') ?? '',
      text: line as string,
    };
    assert.equal(document.findComplaint('get', `${feed}/stream`, answer), undefined);
    seen.add(`streamFeedEvents ${stream.status}`);
    for (const query of ['limit=0', 'after=x']) await admin('get', `${feed}/stream`, `/v1/feeds/crm/stream?${query}`);
    await admin('get', `${feed}/stream`, '/v1/feeds/other/stream');
    for (const position of [next, 'x'])
      await admin('post', `${feed}/ack`, '/v1/feeds/crm/ack', JSON.stringify({ position }));
    for (const name of ['crm', 'other']) await admin('get', feed, `/v1/feeds/${name}`);
    for (const name of ['crm', 'other']) await admin('delete', feed, `/v1/feeds/${name}`);
  });

  test('the answers to an approval by another operator match the document', async () => {
    const tokens = { anna: 'a-token-of-anna-alone', ben: 'a-token-of-ben-alone' };
    const byHand = { amountMaxima: {}, dayMaxima: {}, perMinute: 2, approveAbove: { THB: 10 }, approvalHours: 1 };
    const two = await TestNode.start({
      'admin.tokens': Object.entries(tokens).map(([name, token]) => ({ name, role: 'operate', token })),
      'money.byHand': byHand,
    });
    try {
      const send = (name: keyof typeof tokens, method: string, path: string, body?: object) =>
        fetch(two.adminUrl + path, {
          method,
          headers: { Authorization: `Bearer ${tokens[name]}`, ...(body && json) },
          ...(body && { body: JSON.stringify(body) }),
        });
      await send('anna', 'PUT', '/v1/players/ann', { currency: 'THB' });
      const path = '/v1/players/{username}/deposits';
      const ask = (id: string) => send('anna', 'POST', '/v1/players/ann/deposits', { id, amount: 11 });
      const { approval } = JSON.parse(await check('post', path, await ask('one')));
      await ask('two');
      await check('post', path, await ask('three'));
      for (const name of ['anna', 'ben', 'ben'] as const) {
        const answer = await send(name, 'POST', `/v1/approvals/${approval.id}/approve`);
        await check('post', '/v1/approvals/{id}/approve', answer);
      }
    } finally {
      await two.close();
    }
  });

  test('callback answers match the document, for success and every failure', async () => {
    for (const [endpoint, body] of Object.entries(CALLBACKS)) {
      const text = JSON.stringify(body);
      await callback(endpoint, text);
      await callback(endpoint, text);
      await callback(endpoint, text.replace('"ann"', '"nobody"'));
      await callback(endpoint, '{}');
      await callback(endpoint, 'x'.repeat(5000));
      await callback(endpoint, '', 'get');
    }
  });

  test('transactions of every kind and state match the document', async () => {
    await admin('get', '/v1/products', '/v1/products');
    await callback('placeBets', JSON.stringify(bet('ann', 'open', 1)));
    const path = '/v1/players/{username}/transactions';
    const text = await admin('get', path, '/v1/players/ann/transactions?limit=2');
    assert.notEqual(JSON.parse(text).next, null);
    await admin('get', path, '/v1/players/ann/transactions');
    await admin('get', path, '/v1/players/nobody/transactions');
    await admin('get', path, '/v1/players/ann/transactions?limit=0');
    assert.equal(JSON.parse(await admin('get', '/v1/transactions', '/v1/transactions')).transactions.length, 1);
    await admin('get', '/v1/transactions', '/v1/transactions?state=VOID');
    for (const what of ['rounds', 'log']) {
      await admin('get', `/v1/players/{username}/${what}`, `/v1/players/ann/${what}`);
      await admin('get', `/v1/players/{username}/${what}`, `/v1/players/nobody/${what}`);
    }
    await admin('get', '/v1/players/{username}/rounds', '/v1/players/ann/rounds?limit=0');
    await admin('get', '/v1/players/{username}/log', '/v1/players/ann/log?from=x');
    for (const place of ['memory', 'log', 'archive']) await admin('get', '/v1/find', `/v1/find?id=b1&in=${place}`);
    await admin('get', '/v1/find', '/v1/find?in=log');
    await admin('get', '/v1/transactions', '/v1/transactions?state=GONE');
    const others = await admin('get', '/v1/transactions', '/v1/transactions?productId=other');
    assert.deepEqual(JSON.parse(others).transactions, []);
    await admin('get', '/v1/transactions', '/v1/transactions?productId=');
    await callback('settleBets', JSON.stringify(settlement('ann', 'open', 1)));
    const undone = { id: 'open', roundId: 'r-open', status: 'ROLLBACK', transactionType: 'BY_TRANSACTION' };
    const txns = [{ ...undone, betAmount: 1, payoutAmount: 1 }];
    await callback('rollback', JSON.stringify({ id: 'undo', ...ENVELOPE, txns }));
    const found = await admin('get', '/v1/transactions', '/v1/transactions?openSince=rollback');
    assert.deepEqual(
      JSON.parse(found).transactions.map(({ id, openSince }: Record<string, string>) => `${id} ${openSince}`),
      ['open rollback'],
    );
    await admin('get', '/v1/transactions', '/v1/transactions?openSince=settle');
  });

  test('answers to missing tokens and from a full server match the document', async () => {
    const token = 'a-long-enough-token';
    const changes = {
      'admin.tokens': [{ name: 'auditor', role: 'read', token: READ_TOKEN }],
      'admin.token': token,
      requestDeadlineMs: 300,
      'limits.inFlightMax': 1,
      'limits.bodyBytesMax': 4096,
    };
    const guarded = await TestNode.start(changes);
    try {
      for (const [path, item] of Object.entries(document.content.paths)) {
        for (const method of METHODS.filter((one) => one in item)) {
          if (item[method]?.security !== undefined) continue;
          const url = path.replace('{username}', 'ann').replace('{shard}', '0').replace('{id}', 'YQ.YQ');
          await check(method, path, await fetch(guarded.adminUrl + url, { method: method.toUpperCase() }));
          if (method === 'get') continue;
          const headers = { Authorization: `Bearer ${READ_TOKEN}` };
          const refused = await fetch(guarded.adminUrl + url, { method: method.toUpperCase(), headers });
          assert.equal(refused.status, 403);
          await check(method, path, refused);
        }
      }
      const hold = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode('{')) });
      const held = fetch(`${guarded.callbackUrl}/placeBets`, {
        method: 'POST',
        body: hold,
        duplex: 'half',
      } as RequestInit);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const refused = await fetch(`${guarded.callbackUrl}/settleBets`, { method: 'POST', body: '{}' });
      assert.equal(refused.status, 503);
      await check('post', '/settleBets', refused);
      await check('post', '/placeBets', await held);
    } finally {
      await guarded.close();
    }
  });

  test('answers to unsigned and disallowed callers match the document', async () => {
    for (const [changes, status] of [
      [{ 'signature.keys': 'platform:a-secret-of-the-platform' }, 401],
      [{ 'allow.networks': '192.0.2.0/24', 'allow.proxies': '127.0.0.1' }, 403],
    ] as const) {
      const guarded = await TestNode.start(changes);
      try {
        const init = { method: 'POST', body: JSON.stringify(CALLBACKS.placeBets) };
        const response = await fetch(`${guarded.callbackUrl}/placeBets`, init);
        assert.equal(response.status, status);
        await check('post', '/placeBets', response);
      } finally {
        await guarded.close();
      }
    }
  });

  test('the document and the server consider the same requests valid', async () => {
    for (const [endpoint, body] of Object.entries(CALLBACKS)) {
      const validate = document.schemaAt(
        'paths',
        `/${endpoint}`,
        'post',
        'requestBody',
        'content',
        'application/json',
        'schema',
      );
      assert.ok(validate(body), endpoint);
      const { txns } = body as { txns?: object[] };
      const [txn] = txns ?? [];
      const wrong = [
        { ...body, id: '' },
        { ...body, username: 'x'.repeat(257) },
        ...(txns === undefined
          ? []
          : [
              { ...body, txns: [] },
              { ...body, txns: [{ ...txn, ...('refId' in (txn ?? {}) ? { amount: -1 } : { betAmount: -1 }) }] },
              { ...body, txns: [{ ...txn, status: 'LOST' }] },
            ]),
      ];
      for (const request of wrong) {
        assert.ok(!validate(request), JSON.stringify(request));
        const init = { method: 'POST', body: JSON.stringify(request) };
        assert.equal((await fetch(`${node.callbackUrl}/${endpoint}`, init)).status, 400);
      }
      const longest = { ...body, username: '🎲'.repeat(256) };
      assert.ok(validate(longest), 'characters are counted, not units');
    }
  });

  test('cluster answers match the document, even without a cluster', async () => {
    await admin('get', '/v1/cluster', '/v1/cluster');
    await admin('get', '/v1/cluster/moves', '/v1/cluster/moves');
    const cluster = await TestCluster.start(1);
    const [clustered] = cluster.nodes as [TestNode];
    const ask = async (method: string, path: string, url: string, body?: object) => {
      const init = { method: method.toUpperCase(), ...(body && { body: JSON.stringify(body), headers: json }) };
      await check(method, path, await fetch(clustered.adminUrl + url, init));
    };
    try {
      await ask('get', '/v1/cluster', '/v1/cluster');
      await ask('get', '/v1/cluster/moves', '/v1/cluster/moves');
      for (const action of ['drain', 'undrain']) {
        await ask('post', `/v1/cluster/nodes/{node}/${action}`, `/v1/cluster/nodes/node-0/${action}`);
        await ask('post', `/v1/cluster/nodes/{node}/${action}`, `/v1/cluster/nodes/nobody/${action}`);
      }
      const move = '/v1/cluster/shards/{shard}/move';
      for (const [shard, node] of [
        ['1', 'node-0'],
        ['1', 'nobody'],
        ['99', 'node-0'],
        ['x', 'node-0'],
        ['1', ''],
      ]) {
        await ask('post', move, `/v1/cluster/shards/${shard}/move`, { node });
      }
      for (const status of [200, 400, 404]) assert.ok(seen.has(`moveShard ${status}`), String(status));
    } finally {
      await cluster.close();
    }
  });

  test('these tests call every operation successfully at least once', () => {
    for (const item of Object.values(document.content.paths)) {
      for (const { operationId } of METHODS.flatMap((method) => item[method] ?? [])) {
        assert.ok(
          [...seen].some((one) => one.startsWith(`${operationId} 2`)),
          operationId,
        );
      }
    }
  });
});
