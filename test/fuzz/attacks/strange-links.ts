import { headAndBody } from '../http-request.js';
import { mutateBytes } from '../mutate-bytes.js';
import type { Random } from '../random.js';
import { sending } from '../sending.js';
import type { Attack } from './attack.js';

const PATHS = ['/2', '/2', '/2', '/', '/3', '/2/', '//', '*'];
const HELLO_BYTES = 33;
const FRAMES_MAX = 4;
const PAYLOAD_MAX = 3000;
const MUTATIONS_MAX = 3;
const PAUSE_MAX_MS = 20;

const TEXT = 1;
const BYTES = 2;
/** Opcodes, including continuation without a start, reserved codes, close, ping and pong. */
const OPCODES = [0, 3, 8, 9, 10, 15];

/** WebSockets opened by unknown processes to the peer port: nearly correct hellos, and broken frames. */
export const strangeLinks: Attack = {
  name: 'strange links',
  plan: (random) => {
    const path = random.pick(PATHS);
    const request = headAndBody(
      [
        `GET ${path} HTTP/1.1`,
        'Host: localhost',
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${random.bytes(16).toString('base64')}`,
        ...(random.oneIn(6) ? ['Sec-WebSocket-Extensions: permessage-deflate'] : []),
        ...(random.oneIn(6) ? ['Sec-WebSocket-Protocol: walletd'] : []),
      ],
      Buffer.alloc(0),
    );
    const frames = random.list(random.between(0, FRAMES_MAX), () => mutated(random, frame(random)));
    const parts = [random.oneIn(8) ? mutateBytes(random, request) : request, ...frames].filter(
      ({ length }) => length > 0,
    );
    // Sometimes wait so long that the listener disconnects the unknown process.
    const ending = random.oneIn(20) ? 'outstays' : random.pick(['waits', 'half-closes', 'vanishes', 'resets'] as const);
    return [sending('nodes', parts, { pause: random.between(0, PAUSE_MAX_MS), areSound: false, ending })];
  },
};

function frame(random: Random): Buffer {
  return random.pick<() => Buffer>([
    () => masked(random, BYTES, hello(random)),
    () => masked(random, BYTES, Buffer.concat([hello(random), random.bytes(random.between(0, 300))])),
    () => masked(random, TEXT, Buffer.from(oldGreeting(random))),
    () => masked(random, TEXT, Buffer.from(random.text(64, '0123456789abcdef'))),
    () => masked(random, random.pick([TEXT, BYTES]), random.bytes(random.between(0, PAYLOAD_MAX))),
    () => masked(random, random.pick(OPCODES), random.bytes(random.between(0, 130))),
    () => random.bytes(random.between(1, 200)),
    // The header of a frame whose payload never follows.
    () => Buffer.concat([Buffer.from([0x82, 0xff]), random.bytes(8)]),
  ])();
}

function hello(random: Random): Buffer {
  return Buffer.concat([Buffer.from([random.pick([2, 2, 2, 1, 3, 0, 255])]), random.bytes(HELLO_BYTES - 1)]);
}

/** Hello message of the previous release. */
function oldGreeting(random: Random): string {
  const text = (length: number) => random.text(length, '0123456789abcdef');
  return JSON.stringify({
    wire: random.pick([1, 1, 2, '1', null]),
    storeId: text(32),
    tag: text(random.pick([8, 8, 7])),
    nonce: text(random.pick([32, 32, 31])),
  });
}

/** A frame as sent by a client. */
function masked(random: Random, opcode: number, payload: Buffer): Buffer {
  const mask = random.bytes(4);
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const head = Buffer.from([0x80 | opcode, 0x80 | (length[0] ?? 0), ...length.slice(1)]);
  return Buffer.concat([head, mask, payload.map((byte, n) => byte ^ (mask[n % 4] ?? 0))]);
}

function mutated(random: Random, bytes: Buffer): Buffer {
  if (random.oneIn(2)) return bytes;
  return random.list(random.between(1, MUTATIONS_MAX), () => 0).reduce((one) => mutateBytes(random, one), bytes);
}
