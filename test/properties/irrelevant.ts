import type { Message } from '../../src/simulate/message.js';
import { describeMessage } from '../repeats/describe-history.js';
import { drawHistory } from './draw-history.js';
import { type Body, type Change, moveOf, PlayerClient, rounded } from './player-client.js';
import type { Outcome, Property } from './property.js';

const BALANCE = 200;
const LATER_MS = 86_400_000;
const AMOUNTS = ['betAmount', 'payoutAmount', 'amount'];
const NAMES = ['id', 'roundId', 'refId'];
/** Composed and decomposed letters, a surrogate pair, and characters with a special meaning in paths and shells. */
const ODD = ' ☂/é\u0065\u0301%2F"\\\'😀';

const eachTxn = (body: Body, change: (txn: Readonly<Record<string, unknown>>) => object): object => ({
  ...body,
  ...(body.txns !== undefined && { txns: body.txns.map(change) }),
});

function changed(txn: Readonly<Record<string, unknown>>, fields: readonly string[], change: (value: never) => unknown) {
  return Object.fromEntries(
    Object.entries(txn).map(([name, value]) => [name, fields.includes(name) ? change(value as never) : value]),
  );
}

function backwards(fields: object): object {
  return Object.fromEntries(Object.entries(fields).reverse());
}

/**
 * A difference between two histories that must not affect the answers. `factor` is the ratio of the second history's
 * amounts to the first's.
 */
interface Difference {
  readonly title: string;
  readonly change: Change;
  readonly factor: number;
}

const DIFFERENCES: readonly Difference[] = [
  {
    title: 'unknown fields change nothing',
    factor: 1,
    change: (body) => ({ ...eachTxn(body, (txn) => ({ ...txn, txnId: 'z', extra: [1] })), sessionToken: 'no' }),
  },
  {
    title: 'another clock of the platform changes nothing',
    factor: 1,
    change: (body) => ({ ...body, timestampMillis: Number(body.timestampMillis) + LATER_MS }),
  },
  {
    title: 'odd ids change nothing',
    factor: 1,
    change: (body) => ({
      ...eachTxn(body, (txn) => changed(txn, NAMES, (name: string) => `${ODD}${name}`)),
      id: `${ODD}${body.id}`,
    }),
  },
  {
    title: 'the game and its statistics change nothing',
    factor: 1,
    change: (body) =>
      eachTxn(body, (txn) => changed(txn, ['gameCode', 'playInfo', 'turnOver'], (old) => (old === 0 ? 7 : 'other'))),
  },
  {
    title: 'the order of fields changes nothing',
    factor: 1,
    change: (body) => backwards(eachTxn(body, backwards)),
  },
  {
    title: 'thousandfold amounts move a thousand times as much',
    factor: 1000,
    change: (body) => eachTxn(body, (txn) => changed(txn, AMOUNTS, (amount: number) => 1000 * amount)),
  },
];

/** One property for each difference. */
export const IRRELEVANT: readonly Property[] = DIFFERENCES.map(({ title, change, factor }) => ({
  title,
  draw: (random) => ({ history: drawHistory(random) }),
  check: async (operator, { history }): Promise<Outcome> => {
    const plain = await PlayerClient.take(operator, BALANCE);
    const other = await PlayerClient.take(operator, factor * BALANCE, change);
    const [answers, others] = await Promise.all([plain.sendAll(history), other.sendAll(history)]);
    for (const [i, message] of history.entries()) {
      const [one, same] = [answers[i], others[i]];
      if (one === undefined || same === undefined) throw new Error('a message has no answer');
      const [move, otherMove] = [moveOf(one), moveOf(same)];
      const isScaled = move === undefined ? otherMove === undefined : otherMove === rounded(factor * move);
      if (one.statusCode === same.statusCode && isScaled) continue;
      return { broken: brokenBy(message, one.statusCode, same.statusCode, move, otherMove) };
    }
    const [balance, otherBalance] = [await plain.balance(), await other.balance()];
    if (otherBalance === rounded(factor * balance)) return 'holds';
    return { broken: `the balance is ${balance} without the difference, and ${otherBalance} with it` };
  },
}));

function brokenBy(
  message: Message,
  code: number,
  other: number,
  move: number | undefined,
  otherMove: number | undefined,
) {
  const reported = (one: number, moved: number | undefined) => `${one} moving ${moved ?? 'nothing'}`;
  return `${describeMessage(message)} is ${reported(code, move)} without the difference, and ${reported(other, otherMove)} with it`;
}
