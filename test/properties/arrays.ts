import type { Message } from '../../src/simulate/message.js';
import { describeMessage } from '../repeats/describe-history.js';
import { MessageDrawer } from '../repeats/draw-message.js';
import { PlayerClient, RICH, rounded } from './player-client.js';
import type { Drawn, Outcome, Property } from './property.js';

const MESSAGES_MOST = 30;

interface ArrayCase extends Drawn {
  readonly array: Message;
}

export const ARRAYS: Property<ArrayCase> = {
  title: 'an array moves the sum of its elements',
  draw: (random) => {
    const drawer = new MessageDrawer(random.fork());
    const history = Array.from({ length: random.below(MESSAGES_MOST) }, () => drawer.next());
    let array = drawer.next();
    while (!isOfDistinct(array)) array = drawer.next();
    return { history, array };
  },
  check: async (operator, { history, array }): Promise<Outcome> => {
    const [whole, single] = [await PlayerClient.take(operator, RICH), await PlayerClient.take(operator, RICH)];
    await Promise.all([whole.sendAll(history), single.sendAll(history)]);
    const elements = array.txns.map((txn, i) => ({ ...array, number: array.number + i, txns: [txn] }));
    const [answer, answers] = await Promise.all([whole.send(array), single.sendAll(elements)]);
    if ([answer, ...answers].some(({ statusCode }) => statusCode !== 0)) return 'says nothing';
    const [together, oneByOne] = [await whole.balance(), await single.balance()];
    if (together === oneByOne) return 'holds';
    return {
      broken: `${describeMessage(array)} moves ${rounded(together - oneByOne)} more than its elements one by one`,
    };
  },
};

function isOfDistinct({ txns }: Message): boolean {
  const distinct = (field: string) => new Set(txns.map((txn) => txn[field])).size === txns.length;
  return txns.length > 1 && (distinct('id') || distinct('refId'));
}
