import { json, OPENING_BALANCE, type Stranger, serveStranger } from './serve-stranger.js';

interface Account {
  balance: number;
  readonly bets: Map<string, number>;
}

/** The fate of the operator after its process has ended. */
export type Supervision = 'restarted' | 'stays down';

/**
 * An operator that keeps its accounts in memory, and whose process ends at a bet that the balance does not cover. It
 * serves checkBalance, placeBets and settleBets.
 */
export async function serveCrashingOperator(supervision: Supervision): Promise<Stranger> {
  let accounts = new Map<string, Account>();
  const stranger = await serveStranger(async (callback) => {
    const { endpoint, username, currency } = callback;
    const account = accounts.get(username) ?? { balance: OPENING_BALANCE, bets: new Map() };
    accounts.set(username, account);
    if (endpoint === 'checkBalance') return json(callback, 0, { currency, username, balance: account.balance });
    const [txn] = callback.txns;
    if (txn === undefined) return json(callback, 40003);
    const balanceBefore = account.balance;
    const balances = () => ({ currency, username, balanceBefore, balanceAfter: account.balance });
    if (endpoint === 'placeBets') {
      if (account.balance < txn.betAmount) {
        accounts = new Map();
        await stranger.end();
        if (supervision === 'restarted') await stranger.begin();
        return 'hang up';
      }
      account.bets.set(txn.id, txn.betAmount);
      account.balance -= txn.betAmount;
      return json(callback, 0, balances());
    }
    if (!account.bets.has(txn.id)) return json(callback, 20001);
    account.balance += txn.payoutAmount;
    return json(callback, 0, balances());
  });
  return stranger;
}
