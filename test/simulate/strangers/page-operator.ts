import { type Callback, json, OPENING_BALANCE, type Page, type Stranger, serveStranger } from './serve-stranger.js';

interface Account {
  cents: number;
  readonly bets: Map<string, 'OPEN' | 'SETTLED' | 'REFUND'>;
}

const MAINTENANCE = '<!doctype html><title>Oops</title><h1>Whoops, something went wrong</h1>';

/**
 * An operator that moves money correctly but has a broken interface. Its balances are text, its refusals are pages with
 * HTTP 200, an unknown bet is a page with HTTP 500, and the player's field is `user`.
 */
export function servePageOperator(): Promise<Stranger> {
  const accounts = new Map<string, Account>();
  return serveStranger(async (callback) => {
    const { username, currency } = callback;
    if (username === 'simulation-nobody' || currency !== 'THB') return refusal(200);
    const account = accounts.get(username) ?? { cents: OPENING_BALANCE * 100, bets: new Map() };
    accounts.set(username, account);
    return answer(callback, account);
  });
}

function answer(callback: Callback, account: Account): Page {
  const { endpoint, username, currency } = callback;
  const named = { currency, user: username };
  if (endpoint === 'checkBalance') return json(callback, 0, { ...named, balance: text(account.cents) });
  const [txn] = callback.txns;
  if (txn === undefined) return refusal(200);
  const { bets } = account;
  const state = bets.get(txn.id);
  const before = account.cents;
  const isBet = endpoint === 'placeBets';
  if (isBet && (state !== undefined || before < txn.betAmount * 100)) return refusal(200);
  if (!isBet && state === undefined) return refusal(500);
  if (!isBet && state !== 'OPEN') return refusal(200);
  switch (endpoint) {
    case 'placeBets':
      bets.set(txn.id, 'OPEN');
      account.cents -= Math.round(txn.betAmount * 100);
      break;
    case 'settleBets':
      bets.set(txn.id, 'SETTLED');
      account.cents += Math.round(txn.payoutAmount * 100);
      break;
    case 'cancelBets':
      bets.set(txn.id, 'REFUND');
      account.cents += Math.round(txn.betAmount * 100);
      break;
    default:
      return refusal(500);
  }
  return json(callback, 0, { ...named, balanceBefore: text(before), balanceAfter: text(account.cents) });
}

function text(cents: number): string {
  return (cents / 100).toFixed(2);
}

function refusal(status: 200 | 500): Page {
  return { status, type: 'text/html', text: MAINTENANCE };
}
