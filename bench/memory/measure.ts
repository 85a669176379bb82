import { loadSettings } from '../../src/config/load.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import { apply } from '../../src/wallet/apply.js';
import type { Command } from '../../src/wallet/command.js';
import { decide } from '../../src/wallet/decide/decide.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import type { MemoryReport } from './memory.js';

/*
 * IDs have the lengths that platforms use: 36 characters for transactions, 36 for rounds, 17 for players. The figures
 * include the complete state of a shard: players, their funding, bets, rounds, first answers, directories.
 */
const PLAYERS = 100_000;
const BUSY_PLAYERS = 2000;
const BUSY_EACH = 200;
const rules = rulesOf(loadSettings({}));
const nowMs = Date.now();

function run(wallets: Wallets, command: Command): void {
  const { event, answer } = decide(wallets.get(command.username), command, rules, nowMs);
  if (answer.type === 'failed' || event === undefined) throw new Error(JSON.stringify(answer));
  apply(wallets, event);
}

/** Returns a flat, unshared string, like the strings in a parsed request. */
function fresh(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

const id = (kind: string, n: number) => fresh(`${kind}-0d9c-4b1e-9a57-${String(n).padStart(18, '0')}`);

function heapBytes(): number {
  for (let i = 0; i < 4; i++) global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function fund(wallets: Wallets, count: number): void {
  for (let i = 0; i < count; i++) {
    const username = fresh(`player-${String(i).padStart(10, '0')}`);
    run(wallets, { type: 'import-player', id: fresh('opening'), username, currency: 'THB', balance: 10_000_000_000 });
  }
}

const game = {
  gameCode: 'GAME-1',
  playInfo: 'player',
  isFeature: false,
  isFeatureBuy: false,
  skipBalanceUpdate: false,
};
const envelope = { id: 'request', timestampMillis: nowMs, productId: 'PRODUCT-1', currency: 'THB' };

function place(wallets: Wallets, username: string, n: number): void {
  const bet = { id: id('txn1', n), roundId: id('rnd1', n), status: 'OPEN', betAmount: 105_000, ...game } as const;
  run(wallets, { type: 'placeBets', ...envelope, username, txns: [bet] });
}

/**
 * A second settle of the same bet needs a new `requestId`, because otherwise it counts as a late retry of the first
 * one.
 */
function settle(wallets: Wallets, username: string, n: number, requestId = envelope.id): void {
  const facts = { turnOver: 0, isSingleState: false, byRound: false, isEndRound: true } as const;
  const txn = {
    id: id('txn1', n),
    roundId: id('rnd1', n),
    betAmount: 105_000,
    payoutAmount: 120_000,
    ...facts,
    ...game,
  };
  run(wallets, { type: 'settleBets', ...envelope, id: requestId, username, txns: [txn] });
}

function undo(wallets: Wallets, username: string, n: number): void {
  const amounts = { betAmount: 105_000, payoutAmount: 120_000 };
  const txn = { id: id('txn1', n), roundId: id('rnd1', n), ...amounts, byRound: false, skipBalanceUpdate: false };
  run(wallets, { type: 'rollback', ...envelope, id: id('undo', n), username, txns: [txn] });
}

function tip(wallets: Wallets, username: string, n: number): void {
  const txn = { id: id('tip1', n), roundId: id('rnd1', n), betAmount: 105_000, skipBalanceUpdate: false };
  run(wallets, { type: 'placeTips', ...envelope, username, txns: [txn] });
}

function reward(wallets: Wallets, username: string, n: number): void {
  const txn = { id: id('win1', n), roundId: id('rnd1', n), betAmount: 0, payoutAmount: 120_000, ...game };
  run(wallets, { type: 'winRewards', ...envelope, username, txns: [txn] });
}

function move(wallets: Wallets, username: string, n: number): void {
  const refId = id('ref1', n);
  const txn = { id: refId, roundId: refId, status: 'CREDIT', amount: 105_000, isTooMuch: false } as const;
  run(wallets, { type: 'adjustBalance', ...envelope, username, txns: [txn] });
}

const wallets = new Wallets();
let before = heapBytes();
fund(wallets, PLAYERS);
let after = heapBytes();
const perPlayer = (after - before) / PLAYERS;
before = after;
let n = 0;
for (const wallet of wallets) for (let i = 0; i < 2; i++) place(wallets, wallet.username, n++);
after = heapBytes();
const perOpenBet = (after - before) / PLAYERS / 2;

/** Bytes per call of `happens`, from many calls for each of a few players. */
function bytesOf(happens: (wallets: Wallets, username: string, n: number) => void): number {
  const busy = new Wallets();
  fund(busy, BUSY_PLAYERS);
  const before = heapBytes();
  for (const wallet of busy) for (let i = 0; i < BUSY_EACH; i++) happens(busy, wallet.username, n++);
  const bytes = heapBytes() - before;
  if (busy.count === 0) throw new Error('unreachable: keeps it alive until here');
  return bytes / BUSY_PLAYERS / BUSY_EACH;
}

const perClosedBet = bytesOf((busy, username, n) => {
  place(busy, username, n);
  settle(busy, username, n);
});
const perBetTwiceClosed = bytesOf((busy, username, n) => {
  place(busy, username, n);
  settle(busy, username, n);
  undo(busy, username, n);
  settle(busy, username, n, 'another');
});
const [perTip, perReward, perMovement] = [bytesOf(tip), bytesOf(reward), bytesOf(move)];
const report: MemoryReport = {
  perPlayer,
  perOpenBet,
  perClosedBet,
  perBetTwiceClosed,
  perTip,
  perReward,
  perMovement,
};
console.log(JSON.stringify(report));
if (wallets.count === 0) throw new Error('unreachable: keeps them alive until here');
