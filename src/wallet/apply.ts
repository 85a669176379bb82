import { assert, must, unreachable } from '../base/assert.js';
import { dayOf } from '../base/time.js';
import type { Units } from './amount.js';
import { letGo, takeBack } from './archiving.js';
import type { BalanceMoved, CallbackApplied, Change, Event, OperatorEvent, TipPlaced } from './event.js';
import { forget } from './retention.js';
import { movedBy, type OperationFacts, type OperationType } from './state/operation.js';
import type { Round, Transaction } from './state/round.js';
import { effectOf, hashOfRequest } from './state/transaction-record.js';
import type { Wallet } from './state/wallet.js';
import type { Wallets } from './state/wallets.js';

/**
 * Applies an event to the shard's state, during replay and after a command that creates a player. Returns the event's
 * wallet.
 */
export function apply(wallets: Wallets, event: Event): Wallet {
  if (event.type === 'player-created' || event.type === 'player-imported') {
    assert(event.version === 1, 'the first event of a wallet makes version 1');
    return createWallet(wallets, event);
  }
  const wallet = must(wallets.get(event.username), 'an event is about a player who exists');
  write(wallet, event);
  return wallet;
}

/** Applies an event to its own wallet. */
export function applyIn(wallet: Wallet, event: WalletEvent): void {
  assert(event.username === wallet.username, 'an event is applied to its own wallet');
  write(wallet, event);
}

function write(wallet: Wallet, event: WalletEvent): void {
  assert(event.version === wallet.version + 1, "an event's version is the wallet's plus one");
  change(wallet, event);
  wallet.version = event.version;
}

export type WalletEvent = Exclude<Event, { type: 'player-created' | 'player-imported' }>;

function createWallet(wallets: Wallets, event: Extract<Event, { type: 'player-created' | 'player-imported' }>): Wallet {
  const wallet = wallets.create(event.username, event.currency);
  wallet.version = 1;
  if (event.type === 'player-imported') {
    const { id, balance, timeMs, by } = event;
    wallet.addOperation({ type: 'import', id, amount: balance, after: balance, timeMs, by });
    wallet.balance = balance;
  } else {
    rememberMoneyless(wallet, 'create', event);
  }
  return wallet;
}

const MOVEMENTS = { deposited: 'deposit', withdrawn: 'withdrawal', corrected: 'correction' } as const;

/** Removes a decided request from the wallet's list; returns the requested movement. */
function takeRequest(wallet: Wallet, id: string): Pick<OperationFacts, 'id' | 'amount' | 'by' | 'reason'> {
  const operation = must(wallet.operation(id), 'a request is decided that was made');
  assert(operation.type === 'request', 'a request is decided once');
  const { amount, by, reason } = operation;
  wallet.dropRequest(operation);
  return { id, amount, by, reason };
}

/**
 * Remembers an operation that moves no money, together with its operator's name. An operation without an operator's
 * name is not remembered.
 */
function rememberMoneyless(wallet: Wallet, type: OperationType, { timeMs, by }: OperatorEvent): void {
  if (by !== undefined) wallet.addOperation({ type, id: '', amount: 0, after: wallet.balance, timeMs, by });
}

function change(wallet: Wallet, event: WalletEvent): void {
  switch (event.type) {
    case 'deposited':
    case 'withdrawn':
    case 'corrected': {
      const { id, amount, before, after, timeMs, by, approvedBy } = event;
      const type = MOVEMENTS[event.type];
      const reason = event.type === 'corrected' ? event.reason : undefined;
      assert(before === wallet.balance, 'a movement starts from the balance');
      assert(after === before + movedBy({ type, amount }), 'a movement moves its amount');
      if (approvedBy !== undefined) takeRequest(wallet, id);
      wallet.addOperation({ type, id, amount, after, timeMs, by, reason, approver: approvedBy });
      wallet.balance = after;
      return;
    }
    case 'money-requested': {
      const { id, amount, timeMs, by, expiresMs, allowNegativeBalance } = event;
      const reason = event.reason === '' ? undefined : event.reason;
      const request = { expiresMs, allowNegativeBalance };
      wallet.addOperation({ type: 'request', id, amount, after: wallet.balance, timeMs, by, reason, request });
      return;
    }
    case 'request-closed': {
      const type = event.outcome === 'refused' ? 'refusal' : 'expiry';
      const asked = takeRequest(wallet, event.id);
      wallet.addOperation({ ...asked, type, after: wallet.balance, timeMs: event.timeMs, approver: event.by });
      return;
    }
    case 'player-blocked':
      wallet.blocked = true;
      rememberMoneyless(wallet, 'block', event);
      return;
    case 'player-unblocked':
      wallet.blocked = false;
      rememberMoneyless(wallet, 'unblock', event);
      return;
    case 'session-set':
      wallet.session = { digest: event.digest, endMs: event.endMs };
      return;
    case 'session-ended':
      wallet.session = undefined;
      return;
    case 'rounds-forgotten':
      forget(wallet, event.beforeMs);
      return;
    case 'rounds-archived':
      letGo(wallet, event.rounds);
      return;
    case 'rounds-restored':
      takeBack(wallet, event.images);
      // The archiver may archive restored rounds again later.
      wallet.noteChange(event.timeMs);
      return;
    case 'callback-applied':
      wallet.noteChange(event.timeMs);
      assert(event.before === wallet.balance, 'a callback starts from the balance');
      for (const change of event.changes) applyChange(wallet, event, change);
      return;
    default:
      unreachable(event);
  }
}

/** Applies one change of a callback, to the wallet or to the working copy on which an array is decided. */
export function applyChange(wallet: Wallet, event: CallbackApplied, change: Change): void {
  const before = wallet.balance;
  const explained = writeChange(wallet, event, change, before);
  const residual = change.after - before - explained;
  if (residual !== 0) {
    assert(mayCarry(change), 'a change moves what it says');
    wallet.carry(BigInt(residual));
  }
  wallet.balance = change.after;
}

/**
 * True for changes that may move an amount that the transactions do not account for. A void may use the request's
 * amounts, and a rollback with skip leaves payouts with the player.
 */
function mayCarry(change: Change): boolean {
  switch (change.type) {
    case 'bet-voided':
    case 'round-voided':
      return true;
    case 'bet-rolled-back':
    case 'round-rolled-back':
      return change.skip;
    default:
      return false;
  }
}

/**
 * Writes the change into the wallet's transactions; returns the part of the balance change that the transactions
 * account for.
 */
function writeChange(wallet: Wallet, event: CallbackApplied, change: Change, before: Units): Units {
  const { productId, version, timeMs } = event;
  const answer = { before, after: change.after, version };
  switch (change.type) {
    case 'bet-placed': {
      const round = wallet.roundFor(productId, change.roundId);
      const { id, status, skip, stake } = change;
      const placed = effectOf('place', status === 'WAITING', skip, stake, answer, '', requestIfRemembered(event));
      const bet = wallet.add(round, id, 'bet', status, timeMs, stake, placed);
      if (status === 'OPEN') bet.markOpened();
      if (!skip) takeStake(bet);
      wallet.openBets++;
      return -bet.held;
    }
    case 'bet-confirmed': {
      const bet = mustBet(wallet, productId, change.id);
      if (change.status === 'OPEN') open(bet);
      if (change.takes) takeStake(bet);
      bet.record('place', change.status === 'WAITING', change.skip, bet.stake, answer, '', requestIfRemembered(event));
      bet.touch(timeMs);
      return change.takes ? -bet.held : 0;
    }
    case 'bet-confirmed-anew': {
      const bet = mustBet(wallet, productId, change.id);
      assert(!bet.taken, 'only a stake that was never taken becomes another one');
      open(bet);
      bet.stake = change.stake;
      if (!change.skip) takeStake(bet);
      bet.record('place', false, change.skip, bet.stake, answer, '', requestIfRemembered(event));
      bet.touch(timeMs);
      return -bet.held;
    }
    case 'bet-settled': {
      const bet = mustBet(wallet, productId, change.id);
      if (bet.isOpen) wallet.openBets--;
      bet.settle(false);
      if (!change.skip) pay(bet);
      bet.record('settle', false, change.skip, change.payout, answer, '', requestOf(event, change));
      bet.touch(timeMs);
      if (change.endsRound) bet.round.end();
      return bet.paid;
    }
    case 'single-state-settled': {
      const bet = wallet.bet(productId, change.id) ?? newSingleState(wallet, event, change);
      if (!change.skip) {
        takeStake(bet);
        pay(bet);
      }
      bet.record('settle', false, change.skip, change.payout, answer, '', requestOf(event, change));
      bet.touch(timeMs);
      if (change.endsRound) bet.round.end();
      return bet.paid - bet.held;
    }
    case 'single-state-resettled': {
      const bet = mustBet(wallet, productId, change.id);
      assert(bet.isSingleState && bet.held === change.held, 'a single-state round runs once more');
      if (bet.isOpen) wallet.openBets--;
      bet.settle(true);
      bet.stake = change.stake;
      if (!change.skip) {
        if (!bet.taken) takeStake(bet);
        pay(bet);
      }
      bet.record('settle', false, change.skip, change.payout, answer, '', hashOfRequest(event.requestId));
      bet.touch(timeMs);
      if (change.endsRound) bet.round.end();
      return bet.paid - bet.held + change.held;
    }
    case 'round-settled': {
      const round = mustRound(wallet, productId, change.roundId);
      const settlement = round.settlement(change.id)?.transaction ?? newSettlement(wallet, round, event, change);
      if (!change.skip) pay(settlement);
      settlement.record('settle', false, change.skip, change.payout, answer, '', requestOf(event, change));
      settlement.touch(timeMs);
      if (change.endsRound) round.end();
      return settlement.paid;
    }
    case 'bet-adjusted': {
      const bet = mustBet(wallet, productId, change.id);
      const old = bet.held;
      bet.stake = change.stake;
      bet.record('adjust', false, false, change.stake, answer, event.requestId);
      bet.touch(timeMs);
      return old - bet.held;
    }
    case 'bet-voided': {
      const bet = mustBet(wallet, productId, change.id);
      const takenBack = takePayoutsBack(bet.round, change.takenBack);
      const explained = bet.held - bet.paid - takenBack;
      reverse(bet, 'VOID', timeMs);
      bet.record('void', false, false, 0, answer);
      return explained;
    }
    case 'round-voided': {
      const round = mustRound(wallet, productId, change.roundId);
      let explained = 0;
      for (const id of change.bets) {
        const bet = mustBet(wallet, productId, id);
        explained += bet.held - bet.paid;
        reverse(bet, 'VOID', timeMs);
      }
      for (const { transaction } of round.settlements) {
        explained -= transaction.paid;
        reverse(transaction, 'VOID', timeMs);
      }
      round.addClosing({ type: 'void', id: change.id, ...answer });
      return explained;
    }
    case 'bet-cancelled': {
      const bet = mustBet(wallet, productId, change.id);
      const refund = bet.held;
      wallet.openBets--;
      reverse(bet, change.state, timeMs);
      bet.record('cancel', false, false, refund, answer, '', requestOf(event, change));
      return refund;
    }
    case 'round-cancelled': {
      const round = mustRound(wallet, productId, change.roundId);
      let refund = 0;
      for (const id of change.bets) {
        const bet = mustBet(wallet, productId, id);
        refund += bet.held;
        wallet.openBets--;
        reverse(bet, change.state, timeMs);
      }
      round.mark(change.markMs);
      round.addClosing({ type: 'cancel', id: change.id, ...answer, requestHash: requestOf(event, change) });
      return refund;
    }
    case 'round-marked': {
      const round = wallet.roundFor(productId, change.roundId);
      // A round is found through its transactions. Add a mark to a round that has none.
      if (round.markMs === -1 && !round.isKnown) addTombstone(wallet, round, 'mark', '', timeMs);
      else if (change.touches) round.bearer?.touch(timeMs);
      round.mark(change.markMs);
      return 0;
    }
    case 'cancel-remembered':
      addTombstone(wallet, wallet.roundFor(productId, change.roundId), 'tombstone', change.id, timeMs);
      return 0;
    case 'tip-credited': {
      const round = wallet.roundFor(productId, change.roundId);
      const tip = wallet.add(round, change.id, 'tip', 'REFUND', timeMs, change.amount);
      pay(tip);
      tip.record('cancel', false, false, change.amount, answer, '', requestIfRemembered(event));
      countTip(wallet, timeMs);
      return change.amount;
    }
    case 'bet-rolled-back': {
      const bet = mustBet(wallet, productId, change.id);
      const { round } = bet;
      const wasSettled = bet.state === 'SETTLED';
      const takenBack = takePayoutsBack(round, change.takenBack);
      const moved = reopen(wallet, bet, change.skip, timeMs);
      bet.recordRollback(event.requestId, change.skip, event.timestampMillis, answer);
      // A tip does not affect the state of its round.
      if (!bet.isBet) return moved;
      if (wasSettled) forgetSettlements(wallet, round);
      forgetCancels(round);
      round.resume();
      return moved - takenBack;
    }
    case 'round-rolled-back': {
      const round = mustRound(wallet, productId, change.roundId);
      const bets = change.bets.map((id) => mustBet(wallet, productId, id));
      const isOfRefunds = bets[0]?.state === 'REFUND';
      let explained = 0;
      for (const bet of bets) {
        explained += reopen(wallet, bet, change.skip, timeMs);
        bet.recordRollback('', change.skip, event.timestampMillis, answer);
      }
      if (isOfRefunds) {
        if (round.markMs !== -1) round.mark(-1);
      } else {
        for (const { transaction } of round.settlements) {
          const { paid } = transaction;
          explained -= paid;
          transaction.takeBack(paid);
        }
        forgetSettlements(wallet, round);
      }
      forgetCancels(round);
      round.resume();
      if (bets.length === 0) round.bearer?.touch(timeMs);
      round.addClosing({ type: 'rollback', id: event.requestId, ...answer });
      return explained;
    }
    case 'rollback-repeated': {
      const bet = mustBet(wallet, productId, change.id);
      const first = must(bet.newestRollback, 'what is repeated has been');
      const { requestId } = event;
      const { before, after, version } = first;
      if (change.byRound) bet.round.addClosing({ type: 'rollback', id: requestId, before, after, version });
      else bet.recordRollback(requestId, first.skip, first.sentMs, first);
      bet.touch(timeMs);
      return 0;
    }
    case 'tip-placed': {
      const { id, skip, amount } = change;
      const tip = wallet.bet(productId, id) ?? newTip(wallet, event, change);
      assert(tip.kind === 'tip', 'what is placed as a tip is one');
      if (!skip) takeStake(tip);
      tip.record('place', false, skip, amount, answer, '', requestIfRemembered(event));
      tip.touch(timeMs);
      return -tip.held;
    }
    case 'tip-cancelled': {
      const tip = mustBet(wallet, productId, change.id);
      assert(tip.state === 'TIPS', 'only a tip that stands goes back');
      const refund = tip.held;
      reverse(tip, 'REFUND', timeMs);
      tip.record('cancel', false, false, refund, answer, '', hashOfRequest(event.requestId));
      return refund;
    }
    case 'reward-credited': {
      const round = wallet.roundFor(productId, change.roundId);
      const reward = wallet.add(round, change.id, 'reward', 'SETTLED', timeMs, change.payout);
      pay(reward);
      reward.record('settle', false, false, change.payout, answer);
      return change.payout;
    }
    case 'reward-voided': {
      const reward = must(wallet.reward(productId, change.id), 'a change is about a reward that exists');
      const { paid } = reward;
      reverse(reward, 'VOID', timeMs);
      reward.record('void', false, false, 0, answer, '', requestOf(event, change));
      return -paid;
    }
    case 'balance-debited': {
      const debit = newMovement(wallet, event, change, 'debit');
      takeStake(debit);
      debit.record('place', false, false, change.amount, answer);
      return -change.amount;
    }
    case 'balance-credited': {
      const credit = newMovement(wallet, event, change, 'credit');
      pay(credit);
      credit.record('settle', false, false, change.amount, answer);
      return change.amount;
    }
    case 'message-remembered': {
      const { hash, answerBefore, answerAfter } = change;
      const round = mustRound(wallet, productId, change.roundId);
      round.addRemembered({ hash, before: answerBefore, after: answerAfter });
      round.touch(timeMs);
      return 0;
    }
    default:
      return unreachable(change);
  }
}

/** Records the platform's confirmation of a bet, which may arrive after the settle. */
function open(bet: Transaction): void {
  bet.markOpened();
  if (bet.state === 'WAITING') bet.state = 'OPEN';
}

/** Reopens a bet or tip; returns the part of the balance change that the reopening accounts for. */
function reopen(wallet: Wallet, bet: Transaction, skip: boolean, timeMs: number): Units {
  const explained = bet.held - bet.paid;
  assert(bet.state === 'SETTLED' || bet.state === 'REFUND', 'what is final is not rolled back');
  bet.reopen(bet.state === 'SETTLED' || !skip);
  if (bet.isOpen) wallet.openBets++;
  bet.touch(timeMs);
  return explained - bet.held;
}

/** Frees the ids of settlements whose payout was taken back completely, once no bet of the round is settled. */
function forgetSettlements(wallet: Wallet, round: Round): void {
  if (round.bets.some((bet) => bet.state === 'SETTLED')) return;
  const isUndone = (item: Transaction) => item.state === 'SETTLED' && item.paid === 0;
  const undone = round.settlements.map(({ transaction }) => transaction).filter(isUndone);
  if (undone.length === 0) return;
  round.forget({ settlement: isUndone });
  for (const settlement of undone) wallet.dropSettlement(settlement);
}

/**
 * Forgets the round's cancels. A reopened round can be cancelled again, even by a message identical to an earlier
 * cancel.
 */
function forgetCancels(round: Round): void {
  if (round.hasMessages) round.forget({ closing: ({ type }) => type === 'cancel' });
}

function requestOf(event: CallbackApplied, { keepsRequest }: { readonly keepsRequest: boolean }): number | undefined {
  return keepsRequest ? hashOfRequest(event.requestId) : undefined;
}

/** The hash of the request id. Undefined in events of an older walletd, which stored no hash for these effects. */
function requestIfRemembered(event: CallbackApplied): number | undefined {
  return event.remembers ? hashOfRequest(event.requestId) : undefined;
}

function takeStake(bet: Transaction): void {
  assert(!bet.taken, 'a stake is taken once');
  bet.markTaken();
}

function pay(item: Transaction): void {
  assert(!item.paidOut, 'a payout is given once');
  item.markPaidOut();
}

function reverse(item: Transaction, state: 'VOID' | 'REFUND' | 'REJECT', timeMs: number): void {
  item.state = state;
  item.touch(timeMs);
}

/** Takes amounts back from the settlements with these ids; returns their sum. Visits each settlement once. */
function takePayoutsBack(round: Round, amounts: readonly (readonly [settlementId: string, amount: Units])[]): Units {
  if (amounts.length === 0) return 0;
  const left = new Map(amounts);
  let sum = 0;
  for (const { transaction } of round.settlements) {
    const amount = left.get(transaction.id);
    if (amount === undefined) continue;
    assert(transaction.paid >= amount, 'no more is taken back than is paid');
    transaction.takeBack(amount);
    sum += amount;
    left.delete(transaction.id);
  }
  assert(left.size === 0, 'what is taken back was paid by a settlement');
  return sum;
}

function newSingleState(
  wallet: Wallet,
  event: CallbackApplied,
  change: Extract<Change, { type: 'single-state-settled' }>,
): Transaction {
  const round = wallet.roundFor(event.productId, change.roundId);
  const bet = wallet.add(round, change.id, 'bet', 'SETTLED', event.timeMs, change.stake);
  bet.markSingleState();
  return bet;
}

function newSettlement(
  wallet: Wallet,
  round: Round,
  event: CallbackApplied,
  change: Extract<Change, { type: 'round-settled' }>,
): Transaction {
  const settlement = wallet.add(round, change.id, 'settlement', 'SETTLED', event.timeMs, change.payout);
  const bets = change.bets.map((id) => {
    const bet = mustBet(wallet, event.productId, id);
    assert(bet.isOpen && bet.round.row === round.row, 'a round settles its own open bets');
    bet.settle(false);
    bet.markSettledByRound();
    bet.touch(event.timeMs);
    wallet.openBets--;
    return bet;
  });
  round.addSettlement({ transaction: settlement, bets });
  return settlement;
}

function newTip(wallet: Wallet, event: CallbackApplied, change: TipPlaced): Transaction {
  const round = wallet.roundFor(event.productId, change.roundId);
  return wallet.add(round, change.id, 'tip', 'TIPS', event.timeMs, change.amount);
}

/**
 * Adds a movement of money outside game rounds (adjustBalance). It is stored in a round of its own, which has the
 * movement's id.
 */
function newMovement(
  wallet: Wallet,
  event: CallbackApplied,
  { id, amount }: BalanceMoved,
  kind: 'debit' | 'credit',
): Transaction {
  return wallet.add(wallet.roundFor(event.productId, id), id, kind, 'SETTLED', event.timeMs, amount);
}

function addTombstone(wallet: Wallet, round: Round, kind: 'tombstone' | 'mark', id: string, timeMs: number): void {
  wallet.add(round, id, kind, 'REFUND', timeMs, 0);
  wallet.tombstones++;
}

function countTip(wallet: Wallet, timeMs: number): void {
  const { rareFields } = wallet;
  const tipsDay = dayOf(timeMs);
  wallet.rareFields = {
    ...rareFields,
    tipsDay,
    tipsCredited: rareFields.tipsDay === tipsDay ? rareFields.tipsCredited + 1 : 1,
  };
}

function mustBet(wallet: Wallet, productId: string, id: string): Transaction {
  return must(wallet.bet(productId, id), 'a change is about a transaction that exists');
}

function mustRound(wallet: Wallet, productId: string, id: string): Round {
  return must(wallet.round(productId, id), 'a change is about a round that exists');
}
