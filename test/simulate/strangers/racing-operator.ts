import { type Callback, json, OPENING_BALANCE, type Page, type Stranger, serveStranger } from './serve-stranger.js';

interface Row {
  readonly cents: number;
  state: 'OPEN' | 'SETTLED' | 'REFUND';
}

interface Account {
  cents: number;
  readonly bets: Map<string, Row>;
}

/**
 * An operator that checks before it locks: it reads the player and the bet, waits, and then adds to the balance and
 * answers from what it had read. With one message at a time, it is correct.
 *
 * `meet` resolves when the player's concurrent requests have read as well.
 */
export function serveRacingOperator(meet: (username: string) => Promise<void>): Promise<Stranger> {
  const accounts = new Map<string, Account>();
  return serveStranger((callback) => {
    const { username } = callback;
    const account = accounts.get(username) ?? { cents: OPENING_BALANCE * 100, bets: new Map() };
    accounts.set(username, account);
    return answer(callback, account, () => meet(username));
  });
}

async function answer(callback: Callback, account: Account, meet: () => Promise<void>): Promise<Page> {
  const { endpoint, username, currency } = callback;
  const { cents, bets } = account;
  const reported = (more: object) => json(callback, 0, { currency, username, ...more });
  if (endpoint === 'checkBalance') return reported({ balance: cents / 100 });
  const [txn] = callback.txns;
  if (txn === undefined) return json(callback, 40003);
  const row = bets.get(txn.id);
  const stake = Math.round(txn.betAmount * 100);
  if (endpoint === 'placeBets' && row !== undefined) return json(callback, 20002);
  if (endpoint === 'placeBets' && cents < stake) return json(callback, 10002);
  if (endpoint !== 'placeBets' && row === undefined) return json(callback, 20001);
  if (endpoint !== 'placeBets' && row?.state !== 'OPEN') return json(callback, 20002);
  await meet();
  const moved = {
    placeBets: -stake,
    settleBets: Math.round(txn.payoutAmount * 100),
    cancelBets: row?.cents ?? 0,
  }[endpoint];
  if (moved === undefined) return json(callback, 40003);
  if (row === undefined) bets.set(txn.id, { cents: stake, state: 'OPEN' });
  else row.state = endpoint === 'settleBets' ? 'SETTLED' : 'REFUND';
  account.cents += moved;
  return reported({ balanceBefore: cents / 100, balanceAfter: (cents + moved) / 100 });
}
