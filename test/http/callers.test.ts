import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { parseKeys, type SignatureKey, sign } from '../../src/http/signature.js';
import { balanceOf, bet } from '../support/client.js';
import { answersIn, postOf, type RawOptions, rawRequest } from '../support/raw-request.js';
import type { TestNode } from '../support/test-node.js';
import { withNode } from '../support/with-node.js';

const KEYS = 'new:a-secret-of-the-platform old:another-secret-of-it';
const [NEW, OLD] = parseKeys(KEYS) as [SignatureKey, SignatureKey];

const addresses = Object.values(networkInterfaces()).flatMap((of) => (of ?? []).map(({ address }) => address));
/** On Linux, every address in 127.0.0.0/8 is local. */
const LOOPBACKS = { skip: process.platform !== 'linux' };
const IPV6 = { skip: LOOPBACKS.skip || !addresses.includes('::1') };

const betText = (id: string) => JSON.stringify(bet('ann', id));

function signed(body: string, { secret }: SignatureKey, timestamp = String(Date.now())): string[] {
  return [`sapi-timestamp: ${timestamp}`, `sapi-signature: ${sign(secret, Buffer.from(body), timestamp)}`];
}

async function ask(node: TestNode, body: string, headers: readonly string[] = [], options: RawOptions = {}) {
  return answersIn(await rawRequest(node.callbackUrl, [postOf('/placeBets', body, headers)], options));
}

test('callbacks must be signed with a valid key, or get 30002 with HTTP 401', () =>
  withNode({ 'signature.keys': KEYS }, async (node) => {
    const body = betText('t1');
    const late = String(Date.now() - 301_000);
    assert.deepEqual(await ask(node, body), [[401, 30002]]);
    assert.deepEqual(await ask(node, body, signed(body, OLD, late)), [[401, 30002]], 'stale');
    assert.deepEqual(await ask(node, body, signed(`${body} `, NEW)), [[401, 30002]], 'of another body');
    assert.deepEqual(await ask(node, body, signed(body, NEW).slice(1)), [[401, 30002]], 'without its time');
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 100);
    assert.deepEqual(await ask(node, body, signed(body, NEW)), [[200, 0]]);
    assert.deepEqual(await ask(node, betText('t2'), signed(betText('t2'), OLD)), [[200, 0]]);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 98);
  }));

test('the answer to an unsigned callback echoes nothing and has the short format', () =>
  withNode({ 'signature.keys': KEYS }, async (node) => {
    const shape = /\r\n\r\n\{"id":"","statusCode":30002,"timestampMillis":\d+,"productId":""\}$/;
    for (const body of [betText('t1'), '{', '']) {
      for (const headers of [[], signed(`${body}x`, NEW)]) {
        const received = await rawRequest(node.callbackUrl, [postOf('/placeBets', body, headers)]);
        assert.match(received, shape);
        assert.match(received, /^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*Content-Type: application\/json\r\n/);
      }
    }
    assert.deepEqual(await ask(node, '{', signed('{', NEW)), [[400, 40003]], 'who signs is told what is wrong');
  }));

test('paths, methods and sizes are checked before signatures', () =>
  withNode({ 'signature.keys': KEYS, 'limits.bodyBytesMax': 1000 }, async (node) => {
    const send = async (text: string) => answersIn(await rawRequest(node.callbackUrl, [text]));
    assert.deepEqual(await send(postOf('/elsewhere', '{}')), [[404, 40003]]);
    assert.deepEqual(await send('GET /placeBets HTTP/1.1\r\nHost: localhost\r\n\r\n'), [[405, 40003]]);
    assert.deepEqual(await send(postOf('/placeBets', 'x'.repeat(1001))), [[413, 40003]]);
  }));

test('a chunked body is signed as a whole', () =>
  withNode({ 'signature.keys': KEYS }, async (node) => {
    const body = betText('pieces');
    const text = postOf('/placeBets', body, signed(body, NEW));
    const at = text.length - 100;
    assert.deepEqual(answersIn(await rawRequest(node.callbackUrl, [text.slice(0, at), text.slice(at)])), [[200, 0]]);
  }));

test('a connection from a disallowed address is closed before anything is read', LOOPBACKS, () =>
  withNode({ 'allow.networks': '127.0.0.2, 127.1.0.0/16' }, async (node) => {
    for (const from of ['127.0.0.2', '127.1.200.1']) {
      assert.deepEqual(await ask(node, betText(from), [], { from }), [[200, 0]], from);
    }
    for (const from of ['127.0.0.1', '127.0.0.3', '127.2.0.0']) {
      assert.equal(await rawRequest(node.callbackUrl, [postOf('/placeBets', betText(from))], { from }), '', from);
    }
    const [line] = node.logLines.filter(({ code }) => code === 'callbacks-refused');
    assert.deepEqual([line?.refused, line?.from], [{ 'address not allowed': 1 }, '127.0.0.1']);
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 98);
  }),
);

test('keys and networks must both match, for IPv4 and IPv6', IPV6, () =>
  withNode({ host: '::', 'allow.networks': '127.0.0.1 ::1', 'signature.keys': KEYS }, async (node) => {
    const body = betText('t1');
    assert.deepEqual(await ask(node, body, signed(body, NEW), { from: '127.0.0.2' }), [], 'closed');
    assert.deepEqual(await ask(node, body), [[401, 30002]]);
    assert.deepEqual(await ask(node, body, signed(body, NEW)), [[200, 0]]);
    assert.deepEqual(await ask(node, body, signed(body, NEW), { from: '::1', to: '::1' }), [[200, 0]]);
  }),
);

test('a forwarded address counts only as far as trusted proxies added it', LOOPBACKS, () =>
  withNode({ 'allow.networks': '192.0.2.0/24', 'allow.proxies': '127.0.0.5, 10.0.0.0/8' }, async (node) => {
    const from = '127.0.0.5';
    const forwarded = async (lines: readonly string[], options: RawOptions = { from }) => {
      const headers = lines.map((line) => `X-Forwarded-For: ${line}`);
      return (await ask(node, betText(`t-${lines.join()}`), headers, options))[0]?.[0];
    };
    assert.equal(await forwarded(['192.0.2.7']), 200);
    assert.equal(await forwarded(['192.0.2.7'], { from: '127.0.0.1' }), undefined, 'the peer is not listed');
    assert.equal(await forwarded(['198.51.100.1']), 403);
    assert.equal(await forwarded([]), 403, 'the proxy itself is not listed as a caller');
    assert.equal(await forwarded(['192.0.2.7, 198.51.100.1']), 403, 'what stands before is what the caller says');
    assert.equal(await forwarded(['198.51.100.1, 192.0.2.7']), 200);
    assert.equal(await forwarded(['192.0.2.7', '198.51.100.1']), 403, 'the same in two lines');
    assert.equal(await forwarded(['198.51.100.1', '192.0.2.7']), 200);
    assert.equal(await forwarded(['192.0.2.7, 10.1.2.3']), 200, 'through a second proxy');
    assert.equal(await forwarded(['::ffff:192.0.2.7']), 200);
    for (const line of ['192.0.2.7:80', '"192.0.2.7"', '[::ffff:192.0.2.7]:443', '[::ffff:192.0.2.7]']) {
      assert.equal(await forwarded([line]), 200, line);
    }
    for (const line of ['unknown', '192.0.2', '', '192.0.2.7:x', '[192.0.2.7'])
      assert.equal(await forwarded([line]), 403, line);
  }),
);

test('the log names the sender of an unsigned request, even behind a proxy', LOOPBACKS, async () => {
  for (const [headers, sentence] of [
    [[], 'no sapi-signature header'],
    [signed('{ }', NEW), 'wrong signature'],
  ] as const) {
    await withNode({ 'signature.keys': KEYS, 'allow.proxies': '127.0.0.5' }, async (node) => {
      await ask(node, '{}', [...headers, 'X-Forwarded-For: 192.0.2.7'], { from: '127.0.0.5' });
      const [line] = node.logLines.filter(({ code }) => code === 'callbacks-refused');
      assert.deepEqual([line?.refused, line?.from], [{ [sentence]: 1 }, '192.0.2.7 by 127.0.0.5']);
    });
  }
});

/** PROXY protocol version 2 header, which a load balancer sends before the caller's first byte. */
function proxied(address: readonly number[]): Buffer {
  const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
  const header = Buffer.from([0x21, 0x11, 0, 12]);
  return Buffer.concat([signature, header, Buffer.from([...address, 127, 0, 0, 1, 0, 80, 0, 80])]);
}

const PROXY_PROTOCOL = {
  'allow.networks': '192.0.2.0/24',
  'allow.proxies': '127.0.0.5',
  'allow.forwardedBy': 'proxy-protocol',
};

test('the PROXY protocol is trusted only from proxies, and overrides the headers', LOOPBACKS, () =>
  withNode(PROXY_PROTOCOL, async (node) => {
    const post = Buffer.from(postOf('/placeBets', betText('t1')));
    const send = async (part: Buffer, from: string) =>
      answersIn(await rawRequest(node.callbackUrl, [part], { from }))[0]?.[0];
    assert.equal(await send(Buffer.concat([proxied([192, 0, 2, 7]), post]), '127.0.0.5'), 200);
    assert.equal(await send(Buffer.concat([proxied([198, 51, 100, 1]), post]), '127.0.0.5'), 403);
    assert.equal(await send(Buffer.concat([proxied([192, 0, 2, 7]), post]), '127.0.0.1'), undefined);
    assert.equal(await send(post, '127.0.0.5'), 403);
    const header = Buffer.from(postOf('/placeBets', betText('t2'), ['X-Forwarded-For: 192.0.2.7']));
    assert.equal(await send(header, '127.0.0.5'), 403);
    assert.equal(await send(Buffer.concat([proxied([198, 51, 100, 1]), header]), '127.0.0.5'), 403);
  }),
);

test('a caller refused behind a proxy cannot claim another address on its connection', LOOPBACKS, () =>
  withNode(PROXY_PROTOCOL, async (node) => {
    const from = '127.0.0.5';
    const claim = (id: string) =>
      Buffer.concat([proxied([192, 0, 2, 7]), Buffer.from(postOf('/placeBets', betText(id)))]);
    for (const first of [
      postOf('/placeBets', betText('x')),
      postOf('/nowhere', ''),
      'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    ]) {
      const honest = Buffer.concat([proxied([198, 51, 100, 1]), Buffer.from(first)]);
      const received = [
        ...answersIn(await rawRequest(node.callbackUrl, [Buffer.concat([honest, claim('piece')])], { from })),
        ...answersIn(await rawRequest(node.callbackUrl, [honest, claim('later')], { from })),
        ...answersIn(await rawRequest(node.callbackUrl, [honest, claim('soon')], { from, pauseMs: 0 })),
      ];
      assert.deepEqual(
        received.filter(([status]) => status !== 403),
        [],
      );
    }
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 100);
  }),
);

test('connections beyond limits.connectionsMax are closed until others end', () =>
  withNode({ 'limits.connectionsMax': 2 }, async (node) => {
    const one = (id: string) => ask(node, betText(id));
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(one));
    assert.deepEqual(answers.map((answer) => answer.length).sort(), [0, 0, 1, 1]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(await one('e'), [[200, 0]]);
  }));

test('incoming bodies beyond limits.inFlightBytesMax get 50001 with HTTP 503', () =>
  withNode({ 'limits.inFlightBytesMax': 500 }, async (node) => {
    const slow = (id: string) => {
      const text = postOf('/placeBets', betText(id).padEnd(400));
      return rawRequest(node.callbackUrl, [text.slice(0, -1), text.slice(-1)], { pauseMs: 1000 });
    };
    const pending = slow('slow');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const tooMany = slow('other');
    assert.deepEqual(await ask(node, betText('fast')), [[200, 0]], 'it comes in one piece');
    assert.deepEqual(answersIn(await tooMany), [[503, 50001]]);
    assert.deepEqual(answersIn(await pending), [[200, 0]]);
    assert.deepEqual(answersIn(await slow('other')), [[200, 0]], 'room again');
  }));

test('a sender whose body misses the deadline gets 50001 and is disconnected', () =>
  withNode({ requestDeadlineMs: 200 }, async (node) => {
    const text = postOf('/placeBets', betText('dripping'));
    const drops = [...text].slice(-12);
    const startedMs = Date.now();
    const received = await rawRequest(node.callbackUrl, [text.slice(0, -12), ...drops], { quietMs: 30_000 });
    assert.deepEqual(answersIn(received), [[503, 50001]]);
    assert.match(received, /Connection: close/);
    assert.ok(Date.now() - startedMs < 20_000, 'closed, not waited for');
    assert.equal(await balanceOf(node.adminUrl, 'ann'), 100);
  }));
