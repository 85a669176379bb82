import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Books } from './books.js';
import { OpenBets } from './open-bets.js';
import { type LoadOptions, Run, send } from './run.js';
import { openBetsOf } from './stories.js';

const options = JSON.parse(readFileSync(0, 'utf8')) as LoadOptions;
const { url, mix, seed, players, openBets, openingBalance, signingSecret, connections } = options;
const key = signingSecret === undefined ? undefined : createSecretKey(signingSecret, 'utf8');
// With at least one player per connection, each player has only one request at a time.
const books = new Books(players, openingBalance ?? 0, mix === 'pairs' && players >= connections);
if (openBets > 0) {
  const onPlaced = (count: number) => send({ type: 'placed', players: count });
  await new OpenBets(url, openBetsOf(seed, key, openBets), players, books, onPlaced).place();
}
const result = await new Run(options, key, books).run();
send({ type: 'result', result }, () => process.exit(0));
