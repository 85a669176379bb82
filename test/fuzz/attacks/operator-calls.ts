import { VICTIMS } from '../callbacks.js';
import { requestBytes } from '../http-request.js';
import { mutateBytes } from '../mutate-bytes.js';
import { mutateJson } from '../mutate-json.js';
import type { Random } from '../random.js';
import { sending } from '../sending.js';
import type { Attack, Secrets } from './attack.js';

const REQUESTS_MAX = 8;
const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';
const READING = ['GET', 'HEAD'];
const TYPES = [JSON_TYPE, NDJSON_TYPE, 'text/plain', 'application/jsonl', 'application/problem+json', 'x', ''];
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'];
const AMOUNTS = [0, 0.0001, 1, 12.5, 1000];
const CURSORS = [
  ...[
    '{}',
    '{"version":0,"shown":0}',
    '{"version":-1,"shown":1e9}',
    '{"shard":0}',
    '{"shard":99}',
    '{"shard":0.5}',
    '[]',
  ],
  ...[
    '{"shard":0,"after":{"position":0}}',
    '{"shard":0,"after":{"position":9,"within":{"version":5,"shown":1}}}',
    '"',
    '',
  ],
];

interface Call {
  readonly method: string;
  readonly target: string;
  readonly type?: string;
  readonly body?: string;
}

/** Valid and invalid operator API calls, with and without tokens. */
export const operatorCalls: Attack = {
  name: 'operator calls',
  plan: (random, { secrets }) => {
    const requests = random.list(random.between(1, REQUESTS_MAX), () => mutated(random, realCall(random)));
    const isAuthentic = secrets !== undefined && random.oneIn(3);
    const known = isAuthentic ? requests.filter(({ method }) => READING.includes(method)) : requests;
    const parts = known.map(({ method, target, type, body }) => {
      const headers =
        secrets === undefined
          ? []
          : [`Authorization: ${isAuthentic ? `Bearer ${secrets.readToken}` : forged(random, secrets)}`];
      if (type !== undefined) headers.push(`Content-Type: ${type}`);
      return requestBytes(method, target, body, headers);
    });
    return [sending('operator', parts, { requests: known, pause: 'answered', isAuthentic })];
  },
};

function realCall(random: Random): Call {
  const player = `/v1/players/${random.oneIn(20) ? 'nobody' : random.pick(VICTIMS)}`;
  const id = `o-${random.between(0, 30)}`;
  const amount = random.pick(AMOUNTS);
  const limit = random.pick([
    '',
    '?limit=1',
    '?limit=1000',
    '?limit=0',
    '?limit=1e3',
    '?limit=1&limit=2',
    '?limit=%00',
  ]);
  const post = (path: string, body: object): Call => ({
    method: 'POST',
    target: player + path,
    type: JSON_TYPE,
    body: JSON.stringify(body),
  });
  const get = (target: string): Call => ({ method: 'GET', target });
  return random.pick<() => Call>([
    () => ({
      method: 'PUT',
      target: player,
      type: JSON_TYPE,
      body: JSON.stringify({ currency: random.pick(['THB', 'THB', 'EUR', 'X1']) }),
    }),
    () => post('/deposits', { id, amount }),
    () => post('/withdrawals', { id, amount }),
    () =>
      post('/corrections', {
        id,
        amount: random.pick([1, -1]) * amount,
        reason: 'why',
        allowNegativeBalance: random.oneIn(2),
      }),
    () => post(random.oneIn(4) ? '/block' : '/unblock', {}),
    () => get(player),
    () => get(`${player}/operations${limit}`),
    () => get(`${player}/transactions${limit}`),
    () => get(`${player}/${random.pick(['operations', 'transactions'])}?before=${cursor(random)}`),
    () => get(`/v1/transactions?before=${cursor(random)}`),
    () =>
      get(
        `/v1/transactions?state=${random.pick(['OPEN', 'VOID', 'x', ''])}&olderThanMs=${random.pick(['0', '-1', '9'.repeat(16), 'x'])}`,
      ),
    () => get(`/v1/shards/${random.pick(['0', '3', '4', '-1', '1e0', '99999999999999999999', 'x'])}/players${limit}`),
    () => ({ method: 'POST', target: '/v1/players:import', type: NDJSON_TYPE, body: importLines(random) }),
    () => ({ method: 'POST', target: '/v1/snapshots', ...(random.oneIn(2) ? { type: JSON_TYPE, body: '{}' } : {}) }),
    () =>
      get(random.pick(['/livez', '/readyz', '/metrics', '/openapi.json', '/', '/v1', '/v1/players', '/v1/players/'])),
  ])();
}

function importLines(random: Random): string {
  const line = () => {
    const text = JSON.stringify({
      id: 'i',
      username: random.pick(VICTIMS),
      currency: 'THB',
      balance: random.pick(AMOUNTS),
    });
    return random.oneIn(3) ? mutateJson(random, text) : text;
  };
  return random.list(random.between(0, 15), line).join(random.pick(['\n', '\n', '\r\n', '\n\n']));
}

function mutated(random: Random, { method, target, type, body = '' }: Call) {
  const isJson = body !== '' && random.oneIn(2);
  const text = isJson ? Buffer.from(mutateJson(random, body)) : Buffer.from(body);
  return {
    method: random.oneIn(15) ? random.pick(METHODS) : method,
    // Use only printable characters, because another attack covers targets that the HTTP parser refuses.
    target: random.oneIn(6)
      ? `/${mutateBytes(random, Buffer.from(target.slice(1)))
          .toString('latin1')
          .replace(/[^!-~]/g, '%')}`
      : target,
    type: random.oneIn(10) ? random.pick(TYPES) : type,
    body: random.oneIn(8) ? mutateBytes(random, text) : text,
  };
}

function cursor(random: Random): string {
  return Buffer.from(random.oneIn(4) ? mutateJson(random, random.pick(CURSORS)) : random.pick(CURSORS)).toString(
    'base64url',
  );
}

/** An empty or nearly correct token. */
function forged(random: Random, { readToken }: Secrets): string {
  return random.pick([
    ...['', 'Bearer', 'Bearer ', 'Basic Og==', `Bearer ${readToken}x`, `Bearer ${readToken.slice(0, -1)}`],
    ...[
      `Basic ${readToken}`,
      `Bearer Bearer ${readToken}`,
      readToken,
      `Bearer ${random.text(20, 'abc')}`,
      'Bearer \xff',
    ],
  ]);
}
