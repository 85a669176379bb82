import { echoOf, serveEcho } from './echo-server.js';
import { type AppendToLog, logOnlyAt } from './log-only.js';

/*
 * The baseline: the same HTTP library parses the same JSON and answers in the same format, with the same serializer,
 * but without any state. walletd does more: it validates, keeps the wallet, and makes it durable.
 *
 * With a store address in ECHO_LOG, it answers once the request is in a log there. Requests that arrive during one
 * append join the next. This is the baseline for a durable answer.
 */
// Read the address from the environment rather than from an argument: every user of the machine can see arguments, and
// an address may contain a password.
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

await serveEcho(append !== undefined, (bytes, answer) => {
  const body = echoOf(bytes.toString());
  answerWhenDurable(bytes, () => answer(body));
});
