import { realCallback } from '../callbacks.js';
import { chunkedRequestBytes, requestBytes } from '../http-request.js';
import type { Random } from '../random.js';
import { type RequestLine, sending } from '../sending.js';
import type { Attack } from './attack.js';

const PARTS_MAX = 40;
const PAUSE_MAX_MS = 40;

/** A body in many small chunks, which arrives in time or too late. */
export const slowUploads: Attack = {
  name: 'slow uploads',
  plan: (random) => {
    const { line, bytes } = upload(random);
    const cuts = random.list(random.between(1, PARTS_MAX), () => random.between(0, bytes.length));
    const ends = [...cuts, bytes.length].sort((a, b) => a - b);
    const parts = ends.map((end, n) => bytes.subarray(ends[n - 1] ?? 0, end)).filter(({ length }) => length > 0);
    const ending = random.pick(['waits', 'half-closes'] as const);
    return [sending('callbacks', parts, { requests: [line], pause: random.between(0, PAUSE_MAX_MS), ending })];
  },
};

/** A request that ends somewhere in the middle. */
export const cutOffUploads: Attack = {
  name: 'cut-off uploads',
  plan: (random) => {
    const { bytes } = upload(random);
    const ending = random.oneIn(60) ? 'outstays' : random.pick(['half-closes', 'vanishes', 'resets'] as const);
    const part = bytes.subarray(0, random.between(0, bytes.length - 1));
    return [sending('callbacks', part.length === 0 ? [] : [part], { ending })];
  },
};

/** Bodies at the size limit, beyond it, and far beyond it. */
export const oversizedUploads: Attack = {
  name: 'oversized uploads',
  plan: (random, { bodyBytesMax }) => {
    const { line, body } = callback(random);
    const length = bodyBytesMax + random.pick([-1, 0, 1, 2, bodyBytesMax]);
    const padded = `${body.slice(0, -1)},"pad":"`;
    const bytes = Buffer.from(`${padded}${'x'.repeat(Math.max(0, length - padded.length - 2))}"}`);
    const part = random.oneIn(2)
      ? requestBytes('POST', line.target, bytes)
      : chunkedRequestBytes(
          line.target,
          bytes,
          random.list(3, () => random.between(1, length)),
        );
    return [sending('callbacks', [part], { requests: [line] })];
  },
};

/** Several requests in one write. */
export const pipelining: Attack = {
  name: 'pipelining',
  plan: (random) => {
    const uploads = random.list(random.between(2, 6), () => upload(random));
    const bytes = Buffer.concat(uploads.map((one) => one.bytes));
    const cut = random.oneIn(2) ? random.between(1, bytes.length - 1) : bytes.length;
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0);
    return [sending('callbacks', parts, { requests: uploads.map(({ line }) => line) })];
  },
};

/** More simultaneous requests than the limit allows: some complete, and some only begun. */
export const floods: Attack = {
  name: 'floods',
  plan: (random) =>
    random.list(random.between(5, 50), () => {
      const { line, bytes } = upload(random);
      if (!random.oneIn(4)) return sending('callbacks', [bytes], { requests: [line] });
      return sending('callbacks', [bytes.subarray(0, bytes.length - 1)], { ending: 'waits' });
    }),
};

function callback(random: Random): { line: RequestLine; body: string } {
  const { endpoint, body } = realCallback(random);
  return { line: { method: 'POST', target: `/${endpoint}` }, body: JSON.stringify(body) };
}

function upload(random: Random): { line: RequestLine; bytes: Buffer } {
  const { line, body } = callback(random);
  const bytes = Buffer.from(body);
  if (random.oneIn(2)) return { line, bytes: requestBytes(line.method, line.target, bytes) };
  const sizes = random.list(random.between(0, 5), () => random.between(1, bytes.length));
  return { line, bytes: chunkedRequestBytes(line.target, bytes, sizes) };
}
