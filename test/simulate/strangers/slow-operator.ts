import { type Callback, json, OPENING_BALANCE, type Page, type Stranger, serveStranger } from './serve-stranger.js';

interface Bet {
  readonly cents: number;
  state: 'OPEN' | 'SETTLED' | 'REFUND';
}

interface Account {
  cents: number;
  readonly bets: Map<string, Bet>;
  /** First answers by endpoint and bet. */
  readonly answers: Map<string, { readonly txn: string; readonly page: Page }>;
}

/**
 * An operator that moves money correctly but answers late: it carries out a request long before it answers. It serves
 * checkBalance, placeBets, settleBets and cancelBets.
 *
 * `rest` resolves when the answer is sent. `attempt` counts the times that the platform has sent the request, and
 * `gone` resolves when the platform closes the connection.
 */
export function serveSlowOperator(rest: (attempt: number, gone: Promise<void>) => Promise<void>): Promise<Stranger> {
  const accounts = new Map<string, Account>();
  const attempts = new Map<string, number>();
  return serveStranger(async (callback, gone) => {
    const { username, endpoint, id } = callback;
    const account = accounts.get(username) ?? { cents: OPENING_BALANCE * 100, bets: new Map(), answers: new Map() };
    if (username !== 'simulation-nobody') accounts.set(username, account);
    const request = `${endpoint} ${id}`;
    const attempt = (attempts.get(request) ?? 0) + 1;
    attempts.set(request, attempt);
    const page = answer(callback, account);
    await rest(attempt, gone);
    return page;
  });
}

function answer(callback: Callback, account: Account): Page {
  const { endpoint, username, currency } = callback;
  if (username === 'simulation-nobody') return json(callback, 10001);
  if (currency !== 'THB') return json(callback, 40003);
  if (endpoint === 'checkBalance') return json(callback, 0, { currency, username, balance: account.cents / 100 });
  const [txn] = callback.txns;
  const amount = endpoint === 'settleBets' ? txn?.payoutAmount : txn?.betAmount;
  if (txn === undefined || typeof amount !== 'number' || amount < 0) return json(callback, 40003);
  const { bets, answers } = account;
  const bet = bets.get(txn.id);
  const message = `${endpoint} ${txn.id}`;
  const first = answers.get(message);
  const isRefunded = bet?.state === 'REFUND' && endpoint !== 'cancelBets';
  if (isRefunded) return json(callback, 20003);
  if (first !== undefined) return first.txn === JSON.stringify(txn) ? first.page : json(callback, 20002);
  const before = account.cents;
  if (endpoint === 'placeBets') {
    const cents = Math.round(amount * 100);
    if (before < cents) return json(callback, 10002);
    bets.set(txn.id, { cents, state: 'OPEN' });
    account.cents -= cents;
  } else {
    if (bet === undefined) return json(callback, 20001);
    if (bet.state !== 'OPEN') return json(callback, 20004);
    bet.state = endpoint === 'settleBets' ? 'SETTLED' : 'REFUND';
    account.cents += endpoint === 'settleBets' ? Math.round(amount * 100) : bet.cents;
  }
  const balances = { balanceBefore: before / 100, balanceAfter: account.cents / 100 };
  const page = json(callback, 0, { currency, username, ...balances });
  answers.set(message, { txn: JSON.stringify(txn), page });
  return page;
}
