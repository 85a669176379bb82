import {
  type Callback,
  json,
  OPENING_BALANCE,
  type Page,
  type Stranger,
  serveStranger,
  type Txn,
} from './serve-stranger.js';

type State = 'OPEN' | 'TIP' | 'PAID' | 'CLOSED';

interface Row {
  state: State;
  readonly round: string;
  stake: number;
  payout: number;
}

interface Account {
  cents: number;
  /** Bets and tips, by product and id. */
  readonly bets: Map<string, Row>;
  readonly rewards: Map<string, Row>;
  readonly movements: Set<string>;
  /** Requests that have moved money. */
  readonly requests: Set<string>;
}

/** HTTP statuses of refusals. */
const STATUSES: Readonly<Record<number, number>> = { 10001: 404, 10002: 402, 20001: 404, 20002: 409, 40003: 422 };
const ENDPOINTS: Readonly<Record<string, string>> = { payTips: 'placeTips', refundTips: 'cancelTips' };
const BET_STATES = { placeBets: 'OPEN', placeTips: 'TIPS', settleBets: 'SETTLED', adjustBets: 'OPEN' } as const;
const AMOUNT_MAX = 1e10;

/**
 * An operator that moves money correctly and makes its own choices. A repeat, and any message about a closed bet, gets
 * 20002. A void needs a balance that covers it. A settle must name the round of its bet. A cancel that comes before its
 * bet is forgotten. Refusals have HTTP statuses, answers have further fields, and tips have paths of their own.
 */
export function serveChoosyOperator(): Promise<Stranger> {
  const accounts = new Map<string, Account>();
  return serveStranger(async (sent) => {
    const callback = { ...sent, endpoint: ENDPOINTS[sent.endpoint] ?? sent.endpoint };
    const { username, currency } = callback;
    if (username === 'simulation-nobody') return refusal(callback, 10001);
    if (currency !== 'THB') return refusal(callback, 40003);
    const account = accounts.get(username) ?? newAccount();
    accounts.set(username, account);
    if (callback.endpoint === 'checkBalance') {
      return json(callback, 0, { currency, username, balance: account.cents / 100, vip: false });
    }
    const [txn] = callback.txns;
    if (txn === undefined || !isValid(callback.endpoint, txn)) return refusal(callback, 40003);
    const request = `${callback.endpoint} ${callback.id}`;
    if (account.requests.has(request)) return refusal(callback, 20002);
    const before = account.cents;
    const moved = movedBy(callback, txn, account);
    if (typeof moved === 'object') return refusal(callback, moved.code);
    account.requests.add(request);
    account.cents += moved;
    const balances = { balanceBefore: before / 100, balanceAfter: account.cents / 100 };
    return json(callback, 0, { currency, username, ...balances, reference: request });
  });
}

function newAccount(): Account {
  return {
    cents: OPENING_BALANCE * 100,
    ...{ bets: new Map(), rewards: new Map(), movements: new Set(), requests: new Set() },
  };
}

function refusal(callback: Callback, code: number): Page {
  return { ...json(callback, code), status: STATUSES[code] ?? 400 };
}

function isValid(endpoint: string, txn: Txn): boolean {
  const state = BET_STATES[endpoint as keyof typeof BET_STATES];
  if (state !== undefined && txn.status !== state) return false;
  if (endpoint === 'cancelBets' && txn.status !== 'REFUND' && txn.status !== 'REJECT') return false;
  if (endpoint === 'adjustBalance') return ['DEBIT', 'CREDIT'].includes(txn.status) && isAmount(txn.amount);
  if (typeof txn.id !== 'string' || txn.id === '' || typeof txn.roundId !== 'string') return false;
  const amount = endpoint === 'settleBets' || endpoint === 'winRewards' ? txn.payoutAmount : txn.betAmount;
  return isAmount(amount);
}

function isAmount(amount: unknown): boolean {
  if (typeof amount !== 'number' || amount < 0 || amount > AMOUNT_MAX) return false;
  return cents(amount) / 100 === amount;
}

function cents(amount: number): number {
  return Math.round(amount * 100);
}

/** The cents that a message moves, or its refusal. */
function movedBy(callback: Callback, txn: Txn, account: Account): number | { readonly code: number } {
  const { endpoint, productId } = callback;
  const key = `${productId} ${txn.id}`;
  const row = account.bets.get(key);
  const reward = account.rewards.get(key);
  switch (endpoint) {
    case 'placeBets':
    case 'placeTips': {
      const stake = cents(txn.betAmount);
      if (row !== undefined) return { code: 20002 };
      if (stake > account.cents) return { code: 10002 };
      const state = endpoint === 'placeBets' ? 'OPEN' : 'TIP';
      account.bets.set(key, { state, round: txn.roundId, stake, payout: 0 });
      return -stake;
    }
    case 'settleBets': {
      if (row === undefined || row.state === 'TIP' || row.round !== txn.roundId) return { code: 20001 };
      if (row.state !== 'OPEN') return { code: 20002 };
      row.state = 'PAID';
      row.payout = cents(txn.payoutAmount);
      return row.payout;
    }
    case 'adjustBets': {
      if (row === undefined || row.state === 'TIP') return { code: 20001 };
      if (row.state !== 'OPEN') return { code: 20002 };
      const more = cents(txn.betAmount) - row.stake;
      if (more > account.cents) return { code: 10002 };
      row.stake += more;
      return -more;
    }
    case 'cancelBets':
    case 'cancelTips': {
      if (row === undefined) return { code: 20001 };
      if (row.state !== 'OPEN' && row.state !== 'TIP') return { code: 20002 };
      row.state = 'CLOSED';
      return row.stake;
    }
    case 'voidSettled': {
      const paid = [row, reward].find((one) => one?.state === 'PAID');
      if (paid === undefined) return { code: row?.state === 'CLOSED' || reward !== undefined ? 20002 : 20001 };
      const moved = paid.stake - paid.payout;
      if (account.cents + moved < 0) return { code: 10002 };
      paid.state = 'CLOSED';
      return moved;
    }
    case 'winRewards': {
      if (reward !== undefined) return { code: 20002 };
      const payout = cents(txn.payoutAmount);
      account.rewards.set(key, { state: 'PAID', round: txn.roundId, stake: 0, payout });
      return payout;
    }
    case 'adjustBalance': {
      const movement = `${productId} ${txn.status} ${txn.refId}`;
      const amount = cents(txn.amount) * (txn.status === 'DEBIT' ? -1 : 1);
      if (account.movements.has(movement)) return { code: 20002 };
      if (account.cents + amount < 0) return { code: 10002 };
      account.movements.add(movement);
      return amount;
    }
    default:
      return { code: 40003 };
  }
}
