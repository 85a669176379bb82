import { realCallback } from '../callbacks.js';
import { requestBytes } from '../http-request.js';
import { mutateBytes } from '../mutate-bytes.js';
import { mutateJson } from '../mutate-json.js';
import type { Random } from '../random.js';
import { sending } from '../sending.js';
import type { Attack } from './attack.js';

const REQUESTS_MAX = 20;

/** Callbacks that are valid, nearly valid or nearly JSON, one after another on a connection. */
export const mutatedCallbacks: Attack = {
  name: 'mutated callbacks',
  plan: (random) => {
    const requests = random.list(random.between(1, REQUESTS_MAX), () => {
      const { endpoint, body } = realCallback(random);
      return { method: 'POST', target: `/${endpoint}`, body: mutated(random, JSON.stringify(body)) };
    });
    const parts = requests.map(({ method, target, body }) => requestBytes(method, target, body));
    return [sending('callbacks', parts, { requests, pause: 'answered' })];
  },
};

function mutated(random: Random, text: string): Buffer {
  switch (random.between(1, 4)) {
    case 1:
      return Buffer.from(text);
    case 2:
      return mutateBytes(random, Buffer.from(text));
    default:
      return Buffer.from(mutateJson(random, text));
  }
}
