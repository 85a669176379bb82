import fastJson from 'fast-json-stringify';
import { createApp, listenExclusively, us_socket_local_port } from '../../src/http/uws.js';
import { type AppendToLog, logOnlyAt } from './log-only.js';

/*
 * The floor: the same HTTP library parses the same JSON and answers the same shape, with the same serializer, from
 * nothing. What walletd does beyond this is validation, the wallet, and durability.
 *
 * With the place of a store in ECHO_LOG it answers when what it was sent is in a log there: what comes while one
 * append is in the air goes with the next. That is the floor of an answer that is durable.
 */
const number = { type: 'number' } as const;
const string = { type: 'string' } as const;
const toJson = fastJson({
  type: 'object',
  properties: {
    id: string,
    statusCode: { type: 'integer' },
    timestampMillis: { type: 'integer' },
    productId: string,
    currency: string,
    balanceBefore: number,
    balanceAfter: number,
    username: string,
  },
});

// Not in its arguments: everybody on the machine sees those, and an address may have a password.
const { ECHO_LOG: place, ECHO_LOG_KEY: key = 'log-only' } = process.env;
const append = place === undefined ? undefined : logOnlyAt(place, key);
let waiting: { readonly bytes: Buffer; readonly answer: () => void }[] = [];
let isAppending = false;

function answerWhenDurable(bytes: Buffer, answer: () => void): void {
  if (append === undefined) {
    answer();
    return;
  }
  waiting.push({ bytes, answer });
  if (!isAppending) setImmediate(() => void appendAll(append));
  isAppending = true;
}

async function appendAll(append: AppendToLog): Promise<void> {
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    await append(Buffer.concat(batch.map(({ bytes }) => bytes)));
    for (const { answer } of batch) answer();
  }
  isAppending = false;
}

const app = createApp(undefined);
app.post('/*', (res) => {
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  res.onData((chunk) => {
    // A copy only where it outlives this call.
    const bytes = Buffer.from(append === undefined ? chunk : chunk.slice(0));
    const { id, productId, currency, username } = JSON.parse(bytes.toString());
    const balances = { balanceBefore: 100.5, balanceAfter: 90.5 };
    const body = toJson({ id, statusCode: 0, timestampMillis: Date.now(), productId, currency, ...balances, username });
    answerWhenDurable(bytes, () => {
      if (isAborted) return;
      res.cork(() => {
        res.writeHeader('Content-Type', 'application/json');
        res.end(body);
      });
    });
  });
});
const socket = listenExclusively(app, '127.0.0.1', 0);
console.log(JSON.stringify({ url: `http://127.0.0.1:${us_socket_local_port(socket)}` }));
