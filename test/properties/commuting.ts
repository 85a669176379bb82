import type { Message } from '../../src/simulate/message.js';
import { describeMessage } from '../repeats/describe-history.js';
import { drawHistory, elsewhere } from './draw-history.js';
import { moveOf, PlayerClient, RICH } from './player-client.js';
import type { Outcome, Property } from './property.js';

const APART = '-apart';
const MESSAGES_MOST = 20;

export const COMMUTING: Property = {
  title: 'messages without a common id or round commute',
  draw: (random) => {
    const some = drawHistory(random, MESSAGES_MOST);
    const others = elsewhere(drawHistory(random, MESSAGES_MOST), APART);
    const history: Message[] = [];
    while (some.length + others.length > 0) {
      const from = others.length === 0 || (some.length > 0 && random.chance(0.5)) ? some : others;
      history.push(from.shift() as Message);
    }
    return { history };
  },
  /** Compares the original order of the messages with an order in which one half is sent after the other. */
  check: async (operator, { history }): Promise<Outcome> => {
    const isApart = ({ txns }: Message) => JSON.stringify(txns).includes(APART);
    const sorted = [...history.filter((one) => !isApart(one)), ...history.filter(isApart)];
    const [merged, halves] = [await PlayerClient.take(operator, RICH), await PlayerClient.take(operator, RICH)];
    const [answers, sortedAnswers] = await Promise.all([merged.sendAll(history), halves.sendAll(sorted)]);
    for (const [i, message] of history.entries()) {
      const [one, other] = [answers[i], sortedAnswers[sorted.indexOf(message)]];
      if (one === undefined || other === undefined) throw new Error('a message has no answer');
      if (one.statusCode === other.statusCode && moveOf(one) === moveOf(other)) continue;
      const reported = [one, other].map((answer) => `${answer.statusCode} moving ${moveOf(answer) ?? 'nothing'}`);
      return { broken: `${describeMessage(message)} is answered ${reported.join(' in one order, in the other ')}` };
    }
    const [balance, other] = [await merged.balance(), await halves.balance()];
    return balance === other ? 'holds' : { broken: `the balance is ${balance} in one order, in the other ${other}` };
  },
};
