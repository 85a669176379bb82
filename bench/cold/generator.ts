import { createInterface } from 'node:readline';
import { Books } from '../load/books.js';
import { type LoadOptions, Run, send } from '../load/run.js';

/*
 * Load generator for a server's first seconds. It warms itself up on an echo server, so that only the server under test
 * is cold. Then it waits for the options of the server under test and measures from its first request on.
 */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function play(warmUpMs?: number) {
  const { value } = await lines.next();
  const options = JSON.parse(value as string) as LoadOptions;
  const { players, openingBalance = 0, mix, connections } = options;
  const books = new Books(players, openingBalance, mix === 'pairs' && players >= connections);
  return await new Run(options, undefined, books).run(warmUpMs);
}

await play();
send({ type: 'warm' });
send({ type: 'result', result: await play(0) }, () => process.exit(0));
