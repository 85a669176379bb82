import { realCallback } from '../callbacks.js';
import { headAndBody } from '../http-request.js';
import type { Random } from '../random.js';
import { type Listener, sending } from '../sending.js';
import type { Attack } from './attack.js';

const METHODS = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT', 'post', 'FOO', '', 'P\0ST'];
const TARGETS = [
  ...['/', '*', '', '/placeBets/', '//placeBets', '/%70laceBets', '/PLACEBETS', '/../placeBets', '/placeBets;a=b'],
  ...['/placeBets?a=b&a=c&%00', '/placeBets#f', 'http://x/placeBets', '/\xff', '/%', '/%zz', '/a b', '/\0', 'x'],
  ...[`/${'a'.repeat(5000)}`, `/${'a'.repeat(20_000)}`, '/v1/players/%ff', '/v1/players/a%2fb', '/livez?x', '/metrics'],
];
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.1 ', 'http/1.1', 'HTTP/', ''];

/** Headers that do not affect where a request ends. */
const HEADERS = [
  ...['Connection: close', 'Connection: keep-alive', 'Connection: upgrade', 'Upgrade: websocket', 'Upgrade: h2c'],
  ...['Expect: 100-continue', 'Expect: nothing', 'Accept: text/csv', 'Accept-Encoding: gzip', 'Content-Encoding: gzip'],
  ...['Content-Type: text/csv', 'Content-Type: application/json; charset=utf-16', 'Content-Type:', 'Host: a', 'Host:'],
  ...['X-Forwarded-For: 127.0.0.1, ::1, x', 'X-Empty:', 'X-Blank:   ', 'X-Tab:\ta', 'X-Latin: \xe9\xff', 'Cookie: a=b'],
  ...['Authorization: Bearer ', 'Authorization: Basic x', 'sapi-timestamp: 1', `sapi-signature: ${'0'.repeat(64)}`],
  ...[
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    'If-None-Match: *',
    'Range: bytes=0-1',
  ],
];
/** Headers that affect where a request ends, or that are malformed. */
const FRAMING = [
  ...['Content-Length: 0', 'Content-Length: 1', 'Content-Length: 100000', 'Content-Length: -1', 'Content-Length: +5'],
  ...['Content-Length: 5, 5', 'Content-Length: 0x10', 'Content-Length: 99999999999999999999', 'Content-Length:'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'Transfer-Encoding: gzip, chunked', 'Trailer: X'],
  ...['Transfer-Encoding : chunked', 'Transfer-Encoding: chunked, chunked', ' folded: x', ': x', 'no colon', 'X\0: x'],
  ...['X: a\0b', 'X: a\rb', 'X: a\nb', '\xff: x', ''],
];
const MANY = [60, 99, 100, 101, 300, 1001];
const LONG = [1000, 8000, 15_000, 16_384, 40_000];

/** Request headers that no library would write, sent to both listeners. */
export const headerSets: Attack = {
  name: 'header sets',
  plan: (random) => {
    const { endpoint, body } = realCallback(random);
    const bytes = Buffer.from(JSON.stringify(body));
    const line = {
      method: random.oneIn(3) ? random.pick(METHODS) : 'POST',
      target: random.oneIn(3) ? random.pick(TARGETS) : `/${endpoint}`,
    };
    const version = random.oneIn(12) ? random.pick(VERSIONS) : 'HTTP/1.1';
    const headers = [
      'Host: localhost',
      `Content-Length: ${bytes.length}`,
      ...random.list(random.between(0, 6), () => header(random)),
    ];
    if (random.oneIn(8)) headers.push(...random.list(random.pick(MANY), (n) => `X-${n}: ${n}`));
    if (random.oneIn(8)) headers.push(`X-Long: ${'l'.repeat(random.pick(LONG))}`);
    const framing = random.oneIn(3) ? random.list(random.between(1, 2), () => random.pick(FRAMING)) : [];
    for (const one of framing) headers.splice(random.between(0, headers.length), 0, one);
    const parts = [headAndBody([`${line.method} ${line.target} ${version}`, ...headers], bytes)];
    const to: Listener = random.oneIn(3) ? 'operator' : 'callbacks';
    return [sending(to, parts, { requests: [line], areSound: framing.length === 0 })];
  },
};

function header(random: Random): string {
  return random.pick(HEADERS);
}
