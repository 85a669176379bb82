import { echoOf, serveEcho } from './echo-server.js';
import { type AppendToLog, logOnlyAt } from './log-only.js';

/*
 * The floor: the same HTTP library parses the same JSON and answers the same shape, with the same serializer, from
 * nothing. What walletd does beyond this is validation, the wallet, and durability.
 *
 * With the place of a store in ECHO_LOG it answers when what it was sent is in a log there: what comes while one
 * append is in the air goes with the next. That is the floor of an answer that is durable.
 */
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

serveEcho(append !== undefined, (bytes, answer) => {
  const body = echoOf(bytes.toString());
  answerWhenDurable(bytes, () => answer(body));
});
