import type { Message } from '../../src/simulate/message.js';
import type { Answer } from '../repeats/answer.js';
import { describeAnswer } from '../repeats/answer.js';
import { describeMessage } from '../repeats/describe-history.js';
import { drawHistory } from './draw-history.js';
import { PlayerClient } from './player-client.js';
import type { Drawn, Outcome, Property } from './property.js';

const BALANCE = 200;

interface Repeated extends Drawn {
  /** By message number: earlier messages to send again after this message, provided that they were acknowledged. */
  readonly repeats: ReadonlyMap<number, readonly number[]>;
}

/** Changes that no list shows are detected by their effect on later answers. */
export const UNSEEN: Property<Repeated> = {
  title: 'repeats leave no trace in later answers',
  draw: (random) => {
    const history = drawHistory(random);
    const numbers = history.map(({ number }) => number);
    const repeats = numbers.map((number, i) => {
      return [number, [random.pick(numbers.slice(0, i + 1)), random.pick(numbers.slice(0, i + 1))]] as const;
    });
    return { history, repeats: new Map(repeats) };
  },
  check: async (operator, { history, repeats }): Promise<Outcome> => {
    const [plain, repeating] = [await PlayerClient.take(operator, BALANCE), await PlayerClient.take(operator, BALANCE)];
    const acknowledged = new Map<number, Message>();
    for (const message of history) {
      const [answer, other]: Answer[] = await Promise.all([plain.send(message), repeating.send(message)]);
      if (answer === undefined || other === undefined) throw new Error('a message has no answer');
      if (describeAnswer(answer) !== describeAnswer(other)) {
        const reported = `${describeAnswer(answer)} without repeats, and ${describeAnswer(other)} with them`;
        return { broken: `${describeMessage(message)} is answered ${reported}` };
      }
      if (answer.statusCode === 0) acknowledged.set(message.number, message);
      for (const number of repeats.get(message.number) ?? []) {
        const earlier = acknowledged.get(number);
        if (earlier !== undefined) await repeating.send(earlier);
      }
    }
    const [list, other] = [await plain.list(), await repeating.list()];
    return list === other ? 'holds' : { broken: `without repeats the transactions are\n${list}\nwith them\n${other}` };
  },
};
