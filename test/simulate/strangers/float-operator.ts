import { type Callback, json, OPENING_BALANCE, type Page, type Stranger, serveStranger } from './serve-stranger.js';

interface Bet {
  readonly stake: number;
  state: 'OPEN' | 'SETTLED' | 'REFUND' | 'VOID';
}

interface Account {
  balance: number;
  readonly bets: Map<string, Bet>;
}

/**
 * An operator that miscalculates money. It adds and subtracts doubles. A cancel refunds the amount of the request, even
 * after the settle. An adjustment is measured against the first stake.
 */
export function serveFloatOperator(): Promise<Stranger> {
  const accounts = new Map<string, Account>();
  return serveStranger(async (callback) => {
    const { username } = callback;
    if (username === 'simulation-nobody') return json(callback, 10001);
    const account = accounts.get(username) ?? { balance: OPENING_BALANCE, bets: new Map() };
    accounts.set(username, account);
    return answer(callback, account);
  });
}

function answer(callback: Callback, account: Account): Page {
  const { endpoint, username, currency } = callback;
  if (currency !== 'THB') return json(callback, 40003);
  if (endpoint === 'checkBalance') return json(callback, 0, { currency, username, balance: account.balance });
  const [txn] = callback.txns;
  if (txn === undefined) return json(callback, 40003);
  const bet = account.bets.get(txn.id);
  if (endpoint !== 'placeBets' && bet === undefined) return json(callback, 20001);
  if (endpoint === 'placeBets' && bet !== undefined) return json(callback, 20002);
  if (endpoint === 'settleBets' && bet?.state !== 'OPEN') return json(callback, 20004);
  if (endpoint === 'placeBets' && account.balance < txn.betAmount) return json(callback, 10002);
  const balanceBefore = account.balance;
  switch (endpoint) {
    case 'placeBets':
      account.bets.set(txn.id, { stake: txn.betAmount, state: 'OPEN' });
      account.balance -= txn.betAmount;
      break;
    case 'settleBets':
      (bet as Bet).state = 'SETTLED';
      account.balance += txn.payoutAmount;
      break;
    case 'adjustBets':
      account.balance += (bet as Bet).stake - txn.betAmount;
      break;
    case 'cancelBets':
      (bet as Bet).state = 'REFUND';
      account.balance += txn.betAmount;
      break;
    case 'voidSettled':
      (bet as Bet).state = 'VOID';
      account.balance += txn.payoutAmount;
      break;
    default:
      return json(callback, 40003);
  }
  return json(callback, 0, { currency, username, balanceBefore, balanceAfter: account.balance });
}
