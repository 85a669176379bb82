import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { rawRequest } from '../support/raw-request.js';
import { TestNode } from '../support/test-node.js';

const json = { 'Content-Type': 'application/json' };
const ndjson = { 'Content-Type': 'application/x-ndjson' };

/** Cases that the transcripts of decisions.md section 5 do not cover. */
describe('the operator API', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
  });
  after(() => node.close());

  const call = async (method: string, path: string, body?: string, headers: Record<string, string> = json) => {
    const response = await fetch(node.adminUrl + path, body === undefined ? { method } : { method, body, headers });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };

  test('a body that is not UTF-8 is refused, because different IDs could become equal', async () => {
    await call('PUT', '/v1/players/utf8', '{"currency":"THB"}');
    for (const byte of [0xfe, 0xff]) {
      const body = Buffer.concat([Buffer.from('{"id":"d'), Buffer.of(byte), Buffer.from('","amount":1}')]);
      const path = `${node.adminUrl}/v1/players/utf8/deposits`;
      const response = await fetch(path, { method: 'POST', body, headers: json });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /not UTF-8/);
    }
  });

  test('body headers without a body are allowed where no body is needed', async () => {
    const send = async (path: string) => {
      const response = await fetch(node.adminUrl + path, { method: 'POST', headers: json });
      return { status: response.status, text: await response.text() };
    };
    await call('PUT', '/v1/players/bodyless', '{"currency":"THB"}');
    assert.equal((await send('/v1/players/bodyless/block')).status, 200);
    assert.equal((await send('/v1/players/bodyless/deposits')).status, 400);
  });

  test("all errors are application/problem+json (RFC 9457), including the framework's", async () => {
    const cases: [string, string, string | undefined, number][] = [
      ['GET', '/nowhere', undefined, 404],
      ['GET', '/v1/players/nobody', undefined, 404],
      ['PUT', '/v1/players/x', '{', 400],
      ['PUT', '/v1/players/x', '[]', 400],
      ['PUT', '/v1/players/x', '{}', 400],
      ['PUT', '/v1/players/x', `{"currency":"${'x'.repeat(70_000)}"}`, 413],
      ['POST', '/v1/players/%ff/block', undefined, 400],
      ['POST', '/v1/players:import', '{}', 415],
    ];
    for (const [method, path, body, status] of cases) {
      const answer = await call(method, path, body);
      assert.equal(answer.status, status, `${method} ${path}`);
      assert.match(answer.type ?? '', /^application\/problem\+json/);
      const problem = JSON.parse(answer.text) as Record<string, unknown>;
      assert.deepEqual(Object.keys(problem), ['type', 'title', 'status', 'detail', 'code']);
      assert.equal(problem.status, status);
    }
  });

  test('usernames may be any Unicode, percent-encoded, up to 256 characters', async () => {
    for (const username of [
      'a b',
      'a/b',
      '100%',
      'ünï/🎲?#',
      '__proto__',
      'constructor',
      '🎲'.repeat(256),
      'a\u0000b',
    ]) {
      const path = `/v1/players/${encodeURIComponent(username)}`;
      assert.equal((await call('PUT', path, '{"currency":"THB"}')).status, 201, username);
      assert.equal((await call('POST', `${path}/deposits`, '{"id":"__proto__","amount":1}')).status, 200);
      const answer = await call('GET', path);
      assert.deepEqual(JSON.parse(answer.text), {
        username,
        currency: 'THB',
        balance: 1,
        status: 'active',
        openBets: 0,
        openStakes: 0,
        session: null,
      });
    }
    assert.equal((await call('PUT', `/v1/players/${'x'.repeat(257)}`, '{"currency":"THB"}')).status, 400);
  });

  test('the largest balance is printed with all its digits', async () => {
    const line = (i: number) => JSON.stringify({ id: 'o', username: `whale${i}`, currency: 'THB', balance: 1e10 });
    await call('POST', '/v1/players:import', line(1), ndjson);
    for (let i = 0; i < 89; i++) {
      assert.equal(
        (await call('POST', '/v1/players/whale1/deposits', `{"id":"d${i}","amount":10000000000}`)).status,
        200,
      );
    }
    const answer = await call('POST', '/v1/players/whale1/deposits', '{"id":"last","amount":719925474.0991}');
    assert.match(answer.text, /"balanceBefore":900000000000,"balanceAfter":900719925474\.0991\}/);
    assert.match((await call('GET', '/v1/players/whale1')).text, /"balance":900719925474\.0991,/);
    const bet = { id: 't', status: 'OPEN', roundId: 'r', betAmount: 0.0002, gameCode: 'g', playInfo: 'p' };
    const envelope = { id: 'q', timestampMillis: 1, productId: 'P', currency: 'THB', username: 'whale1', txns: [bet] };
    const callback = await fetch(`${node.callbackUrl}/placeBets`, { method: 'POST', body: JSON.stringify(envelope) });
    assert.match(
      await callback.text(),
      /^\{"id":"q","statusCode":0,"timestampMillis":\d+,"productId":"P","currency":"THB","balanceBefore":900719925474\.0991,"balanceAfter":900719925474\.0989,"username":"whale1"\}$/,
    );
  });

  test('an import creates, skips or refuses each line, and may be repeated', async () => {
    const player = (username: string, balance: unknown, id = 'open-1', currency = 'THB') =>
      JSON.stringify({ id, username, currency, balance });
    await call('PUT', '/v1/players/there', '{"currency":"THB"}');
    const lines = [
      player('imp1', 10.5),
      player('imp2', 0),
      player('imp1', 10.5),
      player('imp1', 11),
      player('imp1', 10.5, 'open-2'),
      player('imp1', 10.5, 'open-1', 'EUR'),
      player('there', 5),
      player('imp3', 1.00001),
      player('imp3', '1'),
      player('', 1),
      player('imp3', 1, 'open-1', 'thb'),
      'not json',
      '[1]',
      `{"id":"x","username":"\\ud800","currency":"THB","balance":1}`,
      'x'.repeat(20_000),
      '',
      '   ',
      player('imp4', 7),
    ].join('\n');
    const results = async () => {
      const answer = await call('POST', '/v1/players:import', lines, ndjson);
      assert.equal(answer.status, 200);
      const report = answer.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      return { sums: report.pop(), words: report.map((one) => one.result), report };
    };
    const first = await results();
    assert.deepEqual(first.sums, { created: 3, skipped: 1, refused: 12 });
    assert.deepEqual(first.words.slice(0, 4), ['created', 'created', 'skipped', 'refused']);
    assert.deepEqual(first.report[0], { line: 1, id: 'open-1', username: 'imp1', result: 'created' });
    assert.match(first.report[4].reason, /exists/);
    assert.deepEqual(
      [first.report[7].id, first.report[7].username],
      ['open-1', 'imp3'],
      'whom a refused line is about',
    );
    assert.match(first.report[11].reason, /not JSON/);
    assert.equal('username' in first.report[11], false);
    assert.match(first.report[14].reason, /at most 16384 bytes/);
    assert.deepEqual((await results()).sums, { created: 0, skipped: 4, refused: 12 });
    assert.match((await call('GET', '/v1/players/imp1')).text, /"balance":10\.5,/);
    assert.match(
      (await call('GET', '/v1/players/there')).text,
      /"balance":0,/,
      'who is there already is never funded by an import',
    );
  });

  test('an import of 100,000 players is streamed', async () => {
    const count = 100_000;
    async function* lines(): AsyncGenerator<Uint8Array> {
      for (let start = 0; start < count; start += 1000) {
        let text = '';
        for (let i = start; i < start + 1000; i++)
          text += `{"id":"o","username":"many${i}","currency":"THB","balance":1}\n`;
        yield Buffer.from(text);
      }
    }
    const init = { method: 'POST', body: ReadableStream.from(lines()), headers: ndjson, duplex: 'half' };
    const response = await fetch(`${node.adminUrl}/v1/players:import`, init as RequestInit);
    const report = (await response.text()).trim().split('\n');
    assert.equal(report.length, count + 1);
    assert.deepEqual(JSON.parse(report.at(-1) as string), { created: count, skipped: 0, refused: 0 });
  });

  test('the refusal of an unknown field names the field', async () => {
    const body = '{"id":"c","amount":-1,"reason":"why","allowNegativBalance":true}';
    const response = await call('POST', '/v1/players/nobody/corrections', body);
    assert.equal(response.status, 400);
    assert.equal(JSON.parse(response.text).detail, 'the body has an unknown field: allowNegativBalance');
  });

  test('each answer has the number of its line in the file', async () => {
    const numbered =
      '\n{broken\n\n  \r\n[]\n{"id":"n","username":"1.2E+9","currency":"THB","balance":1}\n{"id":"n","username":"x","currency":"THB","balance":"1,234.56"}\n{"id":"n","username":"numbered","currency":"THB","balance":1}\n\n';
    const answer = await call('POST', '/v1/players:import', numbered, ndjson);
    const report = answer.text.trim().split('\n').slice(0, -1);
    assert.deepEqual(
      report.map((line) => {
        const { line: number, reason } = JSON.parse(line);
        return [number, reason];
      }),
      [
        [
          2,
          'the line is not JSON, such as {"id":"open-ann","username":"ann","currency":"THB","balance":100.25} (from CSV: docs/operator-api.md)',
        ],
        [5, 'the line must be a JSON object'],
        [
          6,
          'username 1.2E+9 was rounded by a spreadsheet: format the column as text there, and take it from its source again',
        ],
        [7, 'balance must be a number such as 1234.56, without quotes or thousands separators'],
        [8, undefined],
      ],
    );
  });

  test('an import of invalid lines does not starve other requests', async () => {
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    turn();
    await call('POST', '/v1/players:import', '0\n'.repeat(50_000), ndjson);
    isOver = true;
    assert.ok(turns > 20, `${turns} turns`);
  });

  test("errors that the framework raises use walletd's wording", async () => {
    for (const [type, body, status, code] of [
      ['text/plain', '{}', 415, 'unsupported-media-type'],
      ['application/x-www-form-urlencoded', '{}', 415, 'unsupported-media-type'],
      ['application/json', '{', 400, 'bad-request'],
      ['application/json', 'x'.repeat(2_000_000), 413, 'body-too-large'],
    ] as const) {
      const answer = await call('POST', '/v1/players/ann/deposits', body, { 'Content-Type': type });
      assert.deepEqual([answer.status, JSON.parse(answer.text).code], [status, code], answer.text);
    }
  });

  test('a call without a body needs no content type, but an import does', async () => {
    const answer = await call('POST', '/v1/snapshots', '', { 'Content-Type': 'text/plain' });
    assert.equal(answer.status, 200, answer.text);
    const refused = await call('POST', '/v1/players:import', '{}', { 'Content-Type': 'text/plain' });
    assert.equal(refused.status, 415);
    assert.match(refused.text, /application\/x-ndjson/);
  });

  test('an interrupted import has created what it reported; repeating it creates the rest', async () => {
    const line = (i: number) => `${JSON.stringify({ id: 'o', username: `cut${i}`, currency: 'THB', balance: 1 })}\n`;
    async function* cut(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 600; i++) yield Buffer.from(line(i));
      throw new Error('cut off');
    }
    const init = { method: 'POST', body: ReadableStream.from(cut()), headers: ndjson, duplex: 'half' };
    await fetch(`${node.adminUrl}/v1/players:import`, init as RequestInit)
      .then((response) => response.text())
      .catch(() => '');
    const all = Array.from({ length: 600 }, (_, i) => line(i)).join('');
    const answer = await call('POST', '/v1/players:import', all, ndjson);
    const sums = JSON.parse(answer.text.trim().split('\n').at(-1) as string);
    assert.equal(sums.created + sums.skipped, 600);
    assert.equal(sums.refused, 0);
  });

  test('/livez answers ok, and /readyz lists the state of every shard', async () => {
    assert.deepEqual(JSON.parse((await call('GET', '/livez')).text), { status: 'ok' });
    const ready = await call('GET', '/readyz');
    assert.equal(ready.status, 200);
    const { status, shards } = JSON.parse(ready.text);
    assert.equal(status, 'ready');
    assert.equal(shards.length, 4);
  });

  test('a scan lists the bets of all shards page by page', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `scan${i}`);
    await call(
      'POST',
      '/v1/players:import',
      names.map((username) => `{"id":"o","username":"${username}","currency":"THB","balance":1}`).join('\n'),
      ndjson,
    );
    for (const username of names) {
      const txns = [{ id: 't', status: 'WAITING', roundId: 'r', betAmount: 1, gameCode: 'g', playInfo: 'p' }];
      const body = JSON.stringify({ id: 'q', timestampMillis: 1, productId: 'P', currency: 'THB', username, txns });
      await fetch(`${node.callbackUrl}/placeBets`, { method: 'POST', body });
    }
    const found: string[] = [];
    let cursor = '';
    do {
      const answer = await call('GET', `/v1/transactions?state=WAITING&limit=7${cursor && `&before=${cursor}`}`);
      const page = JSON.parse(answer.text);
      assert.ok(page.transactions.length <= 7);
      found.push(...page.transactions.map((one: { username: string }) => one.username));
      cursor = page.next;
    } while (cursor !== null);
    assert.deepEqual(found.sort(), names.sort());
  });
});

test("a shard's players are listed page by page in creation order", async () => {
  const node = await TestNode.start({ shards: 1 });
  try {
    const created = Array.from({ length: 5 }, (_, i) => `p${4 - i}`);
    for (const username of created) {
      const line = JSON.stringify({ id: 'open', username, currency: 'THB', balance: 12.5 });
      await fetch(`${node.adminUrl}/v1/players:import`, { method: 'POST', headers: ndjson, body: line });
    }
    await fetch(`${node.adminUrl}/v1/players/p4/block`, { method: 'POST' });
    const storeIds = new Set();
    const page = async (query: string) => {
      const { storeId, restoredFrom, ...rest } = (await (
        await fetch(`${node.adminUrl}/v1/shards/${query}`)
      ).json()) as { storeId: string; restoredFrom: string[] };
      assert.deepEqual(restoredFrom, []);
      storeIds.add(storeId);
      return rest;
    };
    const whole = created.map((username) => ({
      username,
      currency: 'THB',
      version: username === 'p4' ? 2 : 1,
      balance: 12.5,
    }));
    assert.deepEqual(await page('0/players'), { players: whole, next: null });
    assert.deepEqual(await page('0/players?limit=2'), { players: whole.slice(0, 2), next: 2 });
    assert.deepEqual(await page('0/players?limit=2&after=4'), { players: whole.slice(4), next: null });
    assert.deepEqual(await page('0/players?after=9'), { players: [], next: null });
    assert.match([...storeIds].join(), /^[0-9a-f-]{36}$/, 'and of which store they are');
    for (const [path, status] of [
      ['1/players', 404],
      ['x/players', 404],
      ['0/players?limit=0', 400],
      ['0/players?limit=501', 400],
      ['0/players?after=-1', 400],
    ] as const) {
      assert.equal((await fetch(`${node.adminUrl}/v1/shards/${path}`)).status, status, path);
    }
  } finally {
    await node.close();
  }
});

test('with a token configured, every route except health requires it', async () => {
  const token = 'a-token-of-operators';
  const node = await TestNode.start({ 'admin.token': token });
  try {
    const status = async (path: string, authorization?: string) =>
      (await fetch(node.adminUrl + path, authorization === undefined ? {} : { headers: { authorization } })).status;
    assert.equal(await status('/v1/players/x'), 401);
    assert.equal(await status('/v1/players/x', 'Bearer wrong'), 401);
    assert.equal(await status('/v1/players/x', `Basic ${token}`), 401);
    assert.equal(await status('/v1/players/x', `Bearer ${token}`), 404);
    assert.equal(await status('/nowhere'), 401, 'what exists is not told either');
    assert.equal(await status('/livez'), 200);
    assert.equal(await status('/readyz'), 200);
  } finally {
    await node.close();
  }
});

test('the connection closes if a request is answered before its body has arrived', async () => {
  const node = await TestNode.start({ 'admin.token': 'a-token-of-operators' });
  try {
    const startOf = (line: string) => `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\nx`;
    for (const [line, status] of [
      ['POST /v1/snapshots', 401],
      ['GET /livez', 200],
    ] as const) {
      const startedMs = Date.now();
      const received = await rawRequest(node.adminUrl, [startOf(line)], { quietMs: 30_000 });
      assert.match(received, new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 'is'));
      assert.ok(Date.now() - startedMs < 20_000, 'closed, not waited for');
    }
    const kept = await rawRequest(node.adminUrl, ['GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n']);
    assert.match(kept, /connection: keep-alive/i, 'who sends all of it keeps his connection');
  } finally {
    await node.close();
  }
});

test('a client that sends a second request before the first answer is disconnected', async () => {
  const node = await TestNode.start();
  try {
    const ask = 'GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    assert.doesNotMatch(await rawRequest(node.adminUrl, [ask.repeat(1000)]), /200 OK[\s\S]*200 OK/);
    const answers = await rawRequest(node.adminUrl, [ask, ask, ask]);
    assert.equal(answers.match(/200 OK/g)?.length, 3, 'one after the other');
  } finally {
    await node.close();
  }
});

test('pipelined requests are not executed, and none stays pending forever', async () => {
  const node = await TestNode.start();
  try {
    const deposit = (id: string) => {
      const text = JSON.stringify({ id, currency: 'THB', amount: 10 });
      const headers = `Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`;
      return `POST /v1/players/ann/deposits HTTP/1.1\r\n${headers}\r\n\r\n${text}`;
    };
    const line = JSON.stringify({ id: 'open', username: 'ann', currency: 'THB', balance: 0 });
    await fetch(`${node.adminUrl}/v1/players:import`, { method: 'POST', headers: ndjson, body: line });
    const ask = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
    for (let i = 0; i < 20; i++) await rawRequest(node.adminUrl, [`${ask}${deposit(`a${i}`)}${deposit(`b${i}`)}`]);
    const player = await fetch(`${node.adminUrl}/v1/players/ann`, { headers: { Connection: 'close' } });
    assert.equal(((await player.json()) as { balance: number }).balance, 0);
  } finally {
    await node.close();
  }
  assert.ok(node.logLines.some(({ message }) => message === 'stopped, all pending requests answered'));
});

test('non-HTTP data is answered in the same format as other errors', async () => {
  const node = await TestNode.start();
  try {
    for (const [request, status] of [
      ['get / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ] as const) {
      const received = await rawRequest(node.adminUrl, [request]);
      assert.match(received, new RegExp(`^HTTP/1.1 ${status} .*application/problem\\+json.*"code":`, 's'));
    }
  } finally {
    await node.close();
  }
});

test('a client that stays half-open after a refusal occupies no connection', async () => {
  const node = await TestNode.start();
  const socket = connect({ port: Number(new URL(node.adminUrl).port), host: '127.0.0.1', allowHalfOpen: true });
  try {
    socket.write('get / HTTP/1.1\r\n\r\n');
    socket.resume();
    await once(socket, 'end');
    const broken = once(socket, 'error');
    for (let i = 0; i < 20 && !socket.destroyed; i++) {
      socket.write('x');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.match(String(await Promise.race([broken, 'still open'])), /ECONNRESET|EPIPE/);
  } finally {
    socket.destroy();
    await node.close();
  }
});

test('amounts have as many decimals as money.scales gives their currency', async () => {
  const node = await TestNode.start({ 'money.scales': { BTC: 8, JPY: 0 } });
  try {
    const put = (username: string, currency: string) =>
      fetch(`${node.adminUrl}/v1/players/${username}`, {
        method: 'PUT',
        headers: json,
        body: JSON.stringify({ currency }),
      });
    const deposit = async (username: string, amount: number) => {
      const body = JSON.stringify({ id: `d${amount}`, amount });
      const response = await fetch(`${node.adminUrl}/v1/players/${username}/deposits`, {
        method: 'POST',
        headers: json,
        body,
      });
      return `${response.status} ${await response.text()}`;
    };
    await put('satoshi', 'BTC');
    await put('taro', 'JPY');
    assert.match(await deposit('satoshi', 0.00000001), /^200 .*"balanceAfter":0\.00000001/);
    assert.match(await deposit('satoshi', 0.000000001), /^400 /);
    assert.match(await deposit('taro', 100), /^200 /);
    assert.match(await deposit('taro', 0.5), /^400 /);
  } finally {
    await node.close();
  }
});
