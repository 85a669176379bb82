import { type Element, type Endpoint, GAME, type Message } from './message.js';

/** The default round. */
const ROUND = { roundId: 'r1' };
const BY_TRANSACTION = { transactionType: 'BY_TRANSACTION' };
export const BY_ROUND = { transactionType: 'BY_ROUND' };
export const SKIP = { skipBalanceUpdate: true };

/** Creates the messages of one history. Each message is a separate request. To repeat a message, send it again. */
export class Platform {
  private made = 0;

  bet(id: string, betAmount: number, more: Element = {}): Message {
    return this.message('placeBets', { id, status: 'OPEN', ...ROUND, betAmount, ...GAME, ...more });
  }

  /** Settles one bet. */
  settle(id: string, payoutAmount: number, more: Element = {}): Message {
    const flags = { turnOver: 0, isSingleState: false, ...BY_TRANSACTION };
    const amounts = { betAmount: 0, payoutAmount };
    return this.message('settleBets', { id, status: 'SETTLED', ...ROUND, ...amounts, ...GAME, ...flags, ...more });
  }

  settleRound(id: string, payoutAmount: number, more: Element = {}): Message {
    return this.settle(id, payoutAmount, { ...BY_ROUND, ...more });
  }

  single(id: string, betAmount: number, payoutAmount: number, more: Element = {}): Message {
    return this.settle(id, payoutAmount, { betAmount, isSingleState: true, ...more });
  }

  adjust(id: string, betAmount: number, more: Element = {}): Message {
    return this.message('adjustBets', { id, status: 'OPEN', ...ROUND, betAmount, ...GAME, ...more });
  }

  void(id: string, betAmount: number, payoutAmount: number, more: Element = {}): Message {
    const amounts = { betAmount, payoutAmount };
    return this.message('voidSettled', {
      ...{ id, status: 'VOID', ...ROUND, ...amounts, ...GAME },
      ...{ ...BY_TRANSACTION, ...more },
    });
  }

  cancel(id: string, betAmount: number, more: Element = {}): Message {
    return this.message('cancelBets', {
      ...{ id, status: 'REFUND', ...ROUND, betAmount, ...GAME },
      ...{ ...BY_TRANSACTION, ...more },
    });
  }

  tip(id: string, betAmount: number, more: Element = {}): Message {
    return this.message('placeTips', { id, status: 'TIPS', ...ROUND, betAmount, ...more });
  }

  cancelTip(id: string, betAmount: number, more: Element = {}): Message {
    return this.message('cancelTips', { id, status: 'REFUND', ...ROUND, betAmount, ...more });
  }

  reward(id: string, payoutAmount: number, more: Element = {}): Message {
    return this.message('winRewards', { id, status: 'SETTLED', ...ROUND, payoutAmount, ...GAME, ...more });
  }

  move(refId: string, status: 'DEBIT' | 'CREDIT', amount: number, more: Element = {}): Message {
    return this.message('adjustBalance', { refId, status, amount, ...more });
  }

  rollback(id: string, betAmount: number, payoutAmount: number, more: Element = {}): Message {
    const amounts = { betAmount, payoutAmount };
    return this.message('rollback', {
      ...{ id, status: 'ROLLBACK', ...ROUND, ...amounts, ...GAME },
      ...{ ...BY_TRANSACTION, ...more },
    });
  }

  balance(): Message {
    return { ...this.message('checkBalance', {}), txns: [] };
  }

  /** A new request with the same content. */
  anew(message: Message): Message {
    return { ...message, number: ++this.made };
  }

  /** The same request, resent with the current time. */
  later(message: Message): Message {
    return { ...message, timed: ++this.made };
  }

  /** One request that contains the elements of all messages. */
  array(...messages: readonly [Message, ...Message[]]): Message {
    const [{ endpoint }] = messages;
    return { endpoint, number: ++this.made, txns: messages.flatMap(({ txns }) => txns), envelope: {} };
  }

  private message(endpoint: Endpoint, txn: Element): Message {
    return { endpoint, number: ++this.made, txns: [txn], envelope: {} };
  }
}

/** The same request, with these fields in each of its elements. */
export function but(message: Message, change: Element): Message {
  return { ...message, txns: message.txns.map((txn) => ({ ...txn, ...change })) };
}

/** The same request, without this field in its elements. */
export function without(message: Message, field: string): Message {
  return { ...message, txns: message.txns.map(({ [field]: _, ...txn }) => txn) };
}

/** The message, about the second player of the history. Both players are in the same rounds. */
export function other(message: Message): Message {
  return { ...message, isOfOther: true };
}

/** Marks the message as invalid, so that it must be refused. */
export function invalid(message: Message): Message {
  return { ...message, refusal: 40003 };
}
