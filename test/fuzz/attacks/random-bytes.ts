import { realCallback } from '../callbacks.js';
import { requestBytes } from '../http-request.js';
import { mutateBytes } from '../mutate-bytes.js';
import type { Random } from '../random.js';
import { sending } from '../sending.js';
import type { Attack } from './attack.js';

const BYTES_MAX = 1500;
const BEGINNINGS = [
  '',
  '',
  'POST ',
  'POST /placeBets HTTP/1.1\r\n',
  'GET /livez HTTP/1.1\r\nHost: localhost\r\n',
  '\x16\x03\x01',
];
const MUTATIONS_MAX = 20;

/** Random bytes, and requests with some random bytes changed. */
export const randomBytes: Attack = {
  name: 'random bytes',
  plan: (random) => {
    const bytes = random.oneIn(2) ? nonsense(random) : damaged(random);
    const ending = random.pick(['waits', 'half-closes', 'vanishes', 'resets'] as const);
    return [sending(random.pick(['callbacks', 'operator']), [bytes], { ending })];
  },
};

function nonsense(random: Random): Buffer {
  return Buffer.concat([Buffer.from(random.pick(BEGINNINGS), 'latin1'), random.bytes(random.between(0, BYTES_MAX))]);
}

function damaged(random: Random): Buffer {
  const { endpoint, body } = realCallback(random);
  let bytes = requestBytes('POST', `/${endpoint}`, Buffer.from(JSON.stringify(body)));
  for (let n = random.between(1, MUTATIONS_MAX); n > 0; n--) bytes = mutateBytes(random, bytes);
  return bytes;
}
