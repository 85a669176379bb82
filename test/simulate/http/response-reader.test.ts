import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Response, ResponseReader } from '../../../src/simulate/http/response-reader.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const KEPT = Number.POSITIVE_INFINITY;

/** Responses and their parsed form. A response with `ends` ends only when the connection closes. */
const RESPONSES: readonly (readonly [bytes: string, response: Response, ends?: true])[] = [
  [`${OK}Content-Length: 2\r\n\r\n{}`, { status: 200, text: '{}', keptMs: KEPT }],
  [`${OK}content-length:5 \r\n\r\n"เ"`, { status: 200, text: '"เ"', keptMs: KEPT }],
  [`${OK}Content-Length: 0\r\n\r\n`, { status: 200, text: '', keptMs: KEPT }],
  ['HTTP/1.1 204 No Content\r\n\r\n', { status: 204, text: '', keptMs: KEPT }],
  ['HTTP/1.1 409\r\nContent-Length: 1\r\n\r\n7', { status: 409, text: '7', keptMs: KEPT }],
  [`HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 1\r\n\r\n7`, { status: 200, text: '7', keptMs: KEPT }],
  [`${OK}Connection: close\r\nContent-Length: 1\r\n\r\n7`, { status: 200, text: '7', keptMs: 0 }],
  [`${OK}Keep-Alive: timeout=5\r\nContent-Length: 1\r\n\r\n7`, { status: 200, text: '7', keptMs: 4000 }],
  ['HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n7', { status: 200, text: '7', keptMs: 0 }],
  ['HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\n7', { status: 200, text: '7', keptMs: KEPT }],
  [
    `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\nA;x=1\r\n":"123456\r\r\n2\r\n"}\r\n0\r\n\r\n`,
    { status: 200, text: '{"a":"123456\r"}', keptMs: KEPT },
  ],
  [`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\n7\r\n0\r\nA: b\r\n\r\n`, { status: 200, text: '7', keptMs: KEPT }],
  [`${OK}\r\n{"a":1}`, { status: 200, text: '{"a":1}', keptMs: 0 }, true],
];

/** Passes the bytes to the reader and returns the response that they complete. Overwrites the bytes afterwards. */
function pushed(reader: ResponseReader, bytes: Buffer): Response | undefined {
  const buffer = Buffer.from(bytes);
  const response = reader.push(buffer);
  buffer.fill('?');
  return response;
}

test('a response is read completely, wherever its bytes are split', () => {
  for (const [bytes, response, ends] of RESPONSES) {
    const all = Buffer.from(bytes);
    for (let at = 1; at <= all.length; at++) {
      const reader = new ResponseReader();
      // Read the response twice, as on a reused connection.
      for (let n = 0; n < (ends ? 1 : 2); n++) {
        const first = pushed(reader, all.subarray(0, at));
        const read = first ?? (at < all.length ? pushed(reader, all.subarray(at)) : undefined);
        assert.deepEqual(ends ? reader.end() : read, response, `${JSON.stringify(bytes)} parted at ${at}`);
      }
    }
  }
});

test('bytes that are not a response are refused', () => {
  for (const bytes of [
    'SSH-2.0-OpenSSH\r\n\r\n',
    'HTTP/2 200\r\n\r\n',
    `${OK}Content-Length: -1\r\n\r\n`,
    `${OK}Content-Length: 1, 2\r\n\r\n`,
    `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    `${OK}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
    `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n`,
    'x'.repeat(100_000),
  ]) {
    assert.throws(() => new ResponseReader().push(Buffer.from(bytes)), /answer/, bytes.slice(0, 80));
  }
});

test('a cut-off response is refused', () => {
  const reader = new ResponseReader();
  assert.equal(reader.push(Buffer.from(`${OK}Content-Length: 3\r\n\r\n{}`)), undefined);
  assert.equal(reader.end(), undefined);
});

test('bytes after a response do not count as the next response', () => {
  const response = new ResponseReader().push(Buffer.from(`${OK}Content-Length: 1\r\n\r\n78`));
  assert.deepEqual(response, { status: 200, text: '7', keptMs: 0 });
});

test('only the beginning of a long response is kept', () => {
  const reader = new ResponseReader();
  reader.push(Buffer.from(`${OK}Content-Length: 1000000\r\n\r\n`));
  let response: Response | undefined;
  for (let n = 0; n < 100; n++) response = reader.push(Buffer.alloc(10_000, 'x'));
  assert.ok(response !== undefined && response.text.length >= 64 * 1024 && response.text.length < 80_000);
});
