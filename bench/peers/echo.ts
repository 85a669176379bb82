import fastJson from 'fast-json-stringify';
import { createApp, listenExclusively, us_socket_local_port } from '../../src/http/uws.js';

/*
 * The floor: the same HTTP library parses the same JSON and answers the same shape, with the same serializer, from
 * nothing. What walletd does beyond this is validation, the wallet, and durability.
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

const app = createApp(undefined);
app.post('/*', (res) => {
  res.onAborted(() => {});
  res.onData((chunk) => {
    const { id, productId, currency, username } = JSON.parse(Buffer.from(chunk).toString());
    const balances = { balanceBefore: 100.5, balanceAfter: 90.5 };
    const body = toJson({ id, statusCode: 0, timestampMillis: Date.now(), productId, currency, ...balances, username });
    res.cork(() => {
      res.writeHeader('Content-Type', 'application/json');
      res.end(body);
    });
  });
});
const socket = listenExclusively(app, '127.0.0.1', 0);
console.log(JSON.stringify({ url: `http://127.0.0.1:${us_socket_local_port(socket)}` }));
