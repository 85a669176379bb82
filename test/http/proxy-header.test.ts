import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProxyHeader } from '../../src/http/proxy-header.js';

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
const IPV4 = [192, 0, 2, 7, 127, 0, 0, 1, 0, 80, 0, 80];
const IPV6 = [0x20, 0x01, ...Array.from({ length: 34 }, () => 1)];
const PROXY = 0x21;
const LOCAL = 0x20;

const header = (command: number, family: number, content: readonly number[], length = content.length) =>
  Buffer.from([...SIGNATURE, command, family, length >> 8, length & 0xff, ...content]);
const read = (bytes: Buffer) => {
  const result = readProxyHeader(bytes);
  return typeof result === 'string' ? result : [result.byteLength, [...result.address]];
};

test("parsing a PROXY header returns the client address and the header's length", () => {
  const request = Buffer.from('POST / HTTP/1.1\r\n');
  assert.deepEqual(read(Buffer.concat([header(PROXY, 0x11, IPV4), request])), [28, [192, 0, 2, 7]]);
  assert.deepEqual(read(header(PROXY, 0x11, [...IPV4, 4, 0, 1, 0])), [32, [192, 0, 2, 7]], 'with an extension');
  assert.deepEqual(read(header(PROXY, 0x21, IPV6)), [52, IPV6.slice(0, 16)]);
});

test('the PROXY header of a health check or another family has no address', () => {
  assert.deepEqual(read(header(LOCAL, 0x11, IPV4)), [28, []]);
  assert.deepEqual(read(header(LOCAL, 0, [])), [16, []]);
  assert.deepEqual(read(header(PROXY, 0x12, IPV4)), [28, []], 'datagrams');
});

test('any part of a PROXY header before its end is incomplete', () => {
  const whole = header(PROXY, 0x11, IPV4);
  for (let length = 1; length < whole.length; length++) {
    assert.equal(read(whole.subarray(0, length)), 'incomplete', `${length} bytes`);
  }
});

test('a connection without a PROXY header begins with its request', () => {
  for (const text of ['POST / HTTP/1.1\r\n', '\r\n\r\nGET', 'P', '\r\n\r\n\0x']) {
    assert.deepEqual(read(Buffer.from(text)), [0, []], JSON.stringify(text));
  }
});

test('a PROXY header of the wrong length or another version is invalid', () => {
  assert.equal(read(header(0x11, 0x11, IPV4)), 'invalid');
  assert.equal(read(header(0x22, 0x11, IPV4)), 'invalid', 'unknown command');
  assert.equal(read(header(PROXY, 0x11, IPV4.slice(1))), 'invalid');
  assert.equal(read(header(PROXY, 0x11, [], 4097)), 'invalid');
});
