import type { Message } from '../../src/simulate/message.js';
import { BY_ROUND, Platform, SKIP } from '../../src/simulate/platform.js';
import { describeMessage } from '../repeats/describe-history.js';
import type { Random } from '../simulation/random.js';
import { drawHistory } from './draw-history.js';
import { PlayerClient, RICH } from './player-client.js';
import type { Drawn, Outcome, Property } from './property.js';

const STAKES = [1, 5.5, 10, 25.0001];
const PAYOUTS = [0, 5, 10.25, 90];
const ROUND = { roundId: 'there-and-back' };

/**
 * A history whose messages after the first `kept` ones cancel each other out, so that it ends in the state after the
 * first `kept`.
 */
interface ThereAndBack {
  readonly kept: number;
  readonly messages: readonly Message[];
}

interface Inverse extends Drawn, ThereAndBack {}

export const INVERSES: Property<Inverse> = {
  title: 'an inverse restores the balance',
  draw: (random) => ({ history: drawHistory(random), ...drawThereAndBack(random) }),
  check: async (operator, { history, kept, messages }): Promise<Outcome> => {
    const client = await PlayerClient.take(operator, RICH);
    await client.sendAll(history);
    let restored = await client.balance();
    await client.pause();
    for (const [i, message] of messages.entries()) {
      const { statusCode } = await client.send(message);
      if (statusCode !== 0) return { broken: `${described(messages)}: ${describeMessage(message)} is ${statusCode}` };
      if (i + 1 === kept) restored = await client.balance();
    }
    const balance = await client.balance();
    return balance === restored
      ? 'holds'
      : { broken: `${described(messages)} makes ${balance} of ${restored}, with ${kept} kept` };
  },
};

function described(messages: readonly Message[]): string {
  return messages.map(describeMessage).join('; ');
}

function drawThereAndBack(random: Random): ThereAndBack {
  const p = new Platform();
  const [stake, other, payout] = [random.pick(STAKES), random.pick(STAKES), random.pick(PAYOUTS)];
  const [x, y] = ['x', 'y'];
  const bet = () => p.bet(x, stake, { ...ROUND, ...random.pick([{}, SKIP, { status: 'WAITING' }]) });
  const bets = () => p.array(p.bet(x, stake, ROUND), p.bet(y, other, ROUND));
  const settle = () => p.settle(x, payout, ROUND);
  const settleRound = () => p.settleRound(random.pick([x, 'round-payout']), payout, ROUND);
  const cancel = () => p.cancel(x, stake, { ...ROUND, status: random.pick(['REFUND', 'REJECT']) });
  const refund = () => p.cancel(x, stake, ROUND);
  const cancelRound = () => p.cancel('round-cancel', 0, { ...ROUND, ...BY_ROUND });
  const voidBet = () => p.void(x, stake, payout, ROUND);
  const voidRound = () => p.void('round-void', 0, payout, { ...ROUND, ...BY_ROUND });
  const rollback = () => p.rollback(x, stake, payout, ROUND);
  const rollbackRound = () => p.rollback('round-rollback', 0, payout, { ...ROUND, ...BY_ROUND });
  return random.pick<() => ThereAndBack>([
    () => ({ kept: 0, messages: [bet(), cancel()] }),
    () => ({ kept: 0, messages: [bet(), cancelRound()] }),
    () => ({ kept: 0, messages: [bets(), p.array(refund(), p.cancel(y, other, ROUND))] }),
    () => ({ kept: 0, messages: [bets(), cancelRound()] }),
    () => ({ kept: 0, messages: [bet(), p.adjust(x, other, ROUND), cancel()] }),
    () => ({ kept: 0, messages: [p.tip(x, stake, ROUND), p.cancelTip(x, stake, ROUND)] }),
    () => ({ kept: 0, messages: [p.reward(x, payout, ROUND), voidBet()] }),
    () => ({ kept: 0, messages: [bet(), settle(), voidBet()] }),
    () => ({ kept: 0, messages: [bet(), settleRound(), voidRound()] }),
    () => ({ kept: 0, messages: [bets(), settleRound(), voidRound()] }),
    () => ({ kept: 0, messages: [p.single(x, stake, payout, ROUND), voidBet()] }),
    () => ({ kept: 1, messages: [bet(), settle(), rollback()] }),
    () => ({ kept: 1, messages: [bet(), settleRound(), rollbackRound()] }),
    () => ({ kept: 1, messages: [bets(), settleRound(), rollbackRound()] }),
    () => ({ kept: 1, messages: [bet(), refund(), rollback()] }),
    () => ({ kept: 0, messages: [bet(), settle(), rollback(), settle(), voidBet()] }),
    () => ({ kept: 2, messages: [bet(), settle(), rollback(), settle()] }),
    () => ({ kept: 0, messages: [p.move(x, 'CREDIT', stake), p.move(x, 'DEBIT', stake)] }),
  ])();
}
