import { once } from 'node:events';
import { connect } from 'node:net';
import { median } from '../support/machine.js';

const WARM_UP = 1000;
const REQUESTS = 3000;

const BODY = JSON.stringify({
  id: 'req-1',
  timestampMillis: 1763600000000,
  productId: 'PRODUCT-1',
  currency: 'THB',
  username: 'nobody',
  txns: [{ id: 'txn-1', status: 'OPEN', roundId: 'round-1', betAmount: 1, gameCode: 'GAME-1', playInfo: 'player' }],
});
const REQUEST = `POST /placeBets HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

/**
 * Median time in microseconds until a single bet of an unknown player is answered. The bet reaches the shard but causes
 * no durable write. With a worker, the extra time is the round trip between threads.
 */
export async function answerUs(url: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  const times: number[] = [];
  for (let n = 0; n < WARM_UP + REQUESTS; n++) {
    const startedAt = performance.now();
    socket.write(REQUEST);
    await once(socket, 'data');
    if (n >= WARM_UP) times.push(performance.now() - startedAt);
  }
  socket.destroy();
  return median(times) * 1000;
}
