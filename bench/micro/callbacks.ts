import { requestCodecs, textOf } from '../../src/callback/request-codec.js';
import { loadSettings } from '../../src/config/load.js';
import { amountLimitsOf } from '../../src/node/settings/amount-limits.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import type { CallbackCommand, ChangingEndpoint, Endpoint, PlatformCommand } from '../../src/wallet/command.js';

/**
 * Number of callbacks in one run of a case, and of events in a batch. Small enough that all of them can be bets of one
 * player.
 */
export const CALLBACKS = 64;
export const NOW_MS = 1_763_600_000_000;
/** Opening balance of each player, in units. */
export const OPENING_BALANCE = 10_000_000_000;

const settings = loadSettings({});
/** Rules that credit unknown tips, because some cases cancel tips that were never placed. */
export const rules = { ...rulesOf(settings), tipsUnknown: 'credit' } as const;
export const scales = new ScaleTable({ default: settings.money.scale, byCurrency: settings.money.scales });
export const codecs = requestCodecs({
  scales,
  amountLimits: amountLimitsOf(settings, scales),
  creditMax: null,
  movementMax: null,
  txnsMax: settings.txnsMax,
  isStrict: false,
  sessionToken: settings.sessionToken,
});

/** IDs have the length that platforms use. */
const id = (kind: string, n: number) => `${kind}-0d9c-4b1e-9a57-${String(n).padStart(18, '0')}`;
const numbers = Array.from({ length: CALLBACKS }, (_, n) => n);

const ids = (n: number) => ({ id: id('txn1', n), roundId: id('rnd1', n) });
const game = { gameCode: 'GAME-1', playInfo: 'player' };
const flags = { isFeature: false, isFeatureBuy: false, skipBalanceUpdate: false };
const place = (n: number) => ({ ...ids(n), status: 'OPEN', betAmount: 10.5 + n, ...game, ...flags });

function settle(n: number, changed: object = {}): object {
  const amounts = { betAmount: 10.5 + n, payoutAmount: 12.25 + n, turnOver: 0 };
  const kind = { isSingleState: false, transactionType: 'BY_TRANSACTION', isEndRound: true };
  return { ...ids(n), status: 'SETTLED', ...amounts, ...kind, ...game, ...flags, ...changed };
}

function body(kind: string, n: number, ...txns: object[]): Buffer {
  const envelope = { id: id(kind, n), timestampMillis: NOW_MS, productId: 'PRODUCT-1', currency: 'THB' };
  return Buffer.from(JSON.stringify({ ...envelope, username: 'player-0000000001', txns }));
}

/** Parsed from the body, so that strings and objects are like those that the service receives. */
function command(endpoint: ChangingEndpoint, bytes: Buffer): CallbackCommand {
  return anyCommand(endpoint, bytes) as CallbackCommand;
}

function anyCommand(endpoint: Endpoint, bytes: Buffer): PlatformCommand {
  const read = codecs[endpoint].read(textOf(bytes)).command;
  if (read === undefined) throw new Error(`not a valid request: ${bytes}`);
  return read;
}

/** Makes half as many stories as callbacks. Each story has one callback from `first` and one from `second`. */
function twice(first: readonly CallbackCommand[], second: readonly CallbackCommand[]): CallbackCommand[] {
  return first.flatMap((command, n) => [command, second[n] as CallbackCommand]).slice(0, CALLBACKS);
}

export const balances = numbers.map((n) => anyCommand('checkBalance', body('chk1', n)));
export const placeBodies = numbers.map((n) => body('plc1', n, place(n)));
export const places = placeBodies.map((bytes) => command('placeBets', bytes));

const all = (endpoint: ChangingEndpoint, txn: (n: number) => object) =>
  numbers.map((n) => command(endpoint, body('req2', n, txn(n))));
const singles = all('settleBets', (n) => settle(n, { isSingleState: true }));
const byRound = (n: number) => settle(n, { id: id('stl1', n), transactionType: 'BY_ROUND', betAmount: 0 });
const refund = (n: number) => ({ ...ids(n), status: 'REFUND', betAmount: 10.5 + n });
const voided = (n: number) => ({ ...settle(n), status: 'VOID' });

/** Each bet is placed and then settled. */
export const pairs = twice(places, all('settleBets', settle));
export const pairsByRound = twice(places, all('settleBets', byRound));
export const adjusted = twice(
  places,
  all('adjustBets', (n) => ({ ...place(n), betAmount: 5.25 + n })),
);
export const cancelled = twice(
  places,
  all('cancelBets', (n) => ({ ...refund(n), transactionType: 'BY_TRANSACTION', ...game })),
);
export const voidedSingles = twice(singles, all('voidSettled', voided));
export const rolledBack = twice(
  singles,
  all('rollback', (n) => ({ ...settle(n), status: 'ROLLBACK' })),
);
export const cancelledTips = all('cancelTips', refund);
export const tips = all('placeTips', (n) => ({ ...ids(n), status: 'TIPS', betAmount: 10.5 + n }));
/** Each tip is placed and then returned. */
export const tipsBack = twice(tips, cancelledTips);
export const rewards = all('winRewards', (n) => ({ ...ids(n), status: 'SETTLED', payoutAmount: 20.5 + n, ...game }));
const movement = (status: string) => (n: number) => ({ refId: id('mov1', n), status, amount: 10.5 + n });
/** Each purse is debited and then credited back. */
export const purses = twice(all('adjustBalance', movement('DEBIT')), all('adjustBalance', movement('CREDIT')));

/** Number of bets per request in the array cases. All requests of a case together contain `CALLBACKS` bets. */
export const ARRAY_LENGTH = 8;
export const arrays = numbers
  .filter((n) => n % ARRAY_LENGTH === 0)
  .map((n) => command('placeBets', body('arr1', n, ...numbers.slice(n, n + ARRAY_LENGTH).map(place))));
