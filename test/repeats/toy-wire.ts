import type { Answer } from './answer.js';
import type { Asked, Wire } from './wire.js';

/** A bug in the toy operator, for testing the search itself. */
export type ToyBug = 'none' | 'a reward behind a cancel is paid again' | 'copies at once are both carried out';

interface Body {
  readonly id: string;
  readonly username: string;
  readonly txns?: readonly Readonly<Record<string, unknown>>[];
}

interface Account {
  balance: number;
  readonly answers: Map<string, Answer>;
  hasCancelled: boolean;
}

/**
 * The simplest operator that keeps the promises: each request id moves money once. It does not know the states of bets.
 */
export class ToyWire implements Wire {
  private readonly accounts = new Map<string, Account>();

  constructor(
    private readonly openingBalance: number,
    private readonly bug: ToyBug,
  ) {}

  async ask(endpoint: string, text: string): Promise<Asked> {
    const body = JSON.parse(text) as Body;
    const account = this.account(body.username);
    if (endpoint === 'checkBalance') {
      return { answer: { statusCode: 0, balance: account.balance }, wasUnknown: false };
    }
    const known = account.answers.get(body.id);
    if (this.bug === 'copies at once are both carried out') await undefined;
    // Require a payout: a repeated reward of 0 becomes visible only after a different message has moved the balance,
    // which takes a longer history.
    const isPaying = endpoint === 'winRewards' && Number(body.txns?.[0]?.payoutAmount) > 0;
    const isForgotten = this.bug === 'a reward behind a cancel is paid again' && isPaying && account.hasCancelled;
    const answer = known === undefined || isForgotten ? carryOut(endpoint, body, account) : known;
    return { answer, wasUnknown: false };
  }

  async cut(endpoint: string, text: string): Promise<void> {
    await this.ask(endpoint, text);
  }

  async list(username: string): Promise<string> {
    return String(this.account(username).balance);
  }

  private account(username: string): Account {
    let account = this.accounts.get(username);
    if (account === undefined) {
      account = { balance: this.openingBalance, answers: new Map(), hasCancelled: false };
      this.accounts.set(username, account);
    }
    return account;
  }
}

function carryOut(endpoint: string, { id, txns = [] }: Body, account: Account): Answer {
  const { balance } = account;
  const moved = txns.reduce((sum, txn) => sum + moves(endpoint, txn), 0);
  const answer = { statusCode: 0, balanceBefore: balance, balanceAfter: balance + moved };
  account.balance += moved;
  account.answers.set(id, answer);
  account.hasCancelled ||= endpoint === 'cancelBets';
  return answer;
}

function moves(endpoint: string, { betAmount = 0, payoutAmount = 0 }: Readonly<Record<string, unknown>>): number {
  return endpoint === 'placeBets' || endpoint === 'placeTips' ? -Number(betAmount) : Number(payoutAmount);
}
