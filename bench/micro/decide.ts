import { applyIn, type WalletEvent } from '../../src/wallet/apply.js';
import type { CallbackCommand, PlatformCommand } from '../../src/wallet/command.js';
import { decide } from '../../src/wallet/decide/decide.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import {
  ARRAY_LENGTH,
  adjusted,
  arrays,
  balances,
  CALLBACKS,
  cancelled,
  cancelledTips,
  NOW_MS,
  OPENING_BALANCE,
  pairs,
  pairsByRound,
  places,
  purses,
  rewards,
  rolledBack,
  rules,
  tips,
  tipsBack,
  voidedSingles,
} from './callbacks.js';
import { type Case, type Group, keep } from './group.js';

/** Executes a command as a shard does in its turn for a known player. */
export function execute(wallet: Wallet, command: PlatformCommand): WalletEvent | undefined {
  const { event, answer } = decide(wallet, command, rules, NOW_MS);
  if (answer.type === 'failed') throw new Error(answer.failure);
  if (event !== undefined) applyIn(wallet, event as WalletEvent);
  return event as WalletEvent | undefined;
}

export function newWallet(): Wallet {
  const wallet = new Wallets().create('player-0000000001', 'THB');
  wallet.balance = OPENING_BALANCE;
  return wallet;
}

function runAll(wallet: Wallet, commands: readonly PlatformCommand[]): Wallet {
  for (const command of commands) keep(execute(wallet, command));
  return wallet;
}

/** The naive wallet: a balance and a Map of bets, without rounds, history or events for a log. */
class PlainWallet {
  private balance = OPENING_BALANCE;
  private readonly bets = new Map<string, { stake: number; payout: number | undefined }>();

  execute(command: CallbackCommand): number {
    if (command.type === 'placeBets') for (const { id, betAmount } of command.txns) this.place(id, betAmount);
    if (command.type === 'settleBets') for (const { id, payoutAmount } of command.txns) this.settle(id, payoutAmount);
    return this.balance;
  }

  private place(id: string, stake: number): void {
    if (this.bets.has(id) || this.balance < stake) return;
    this.bets.set(id, { stake, payout: undefined });
    this.balance -= stake;
  }

  private settle(id: string, payout: number): void {
    const bet = this.bets.get(id);
    if (bet === undefined || bet.payout !== undefined) return;
    bet.payout = payout;
    this.balance += payout;
  }
}

function fresh(name: string, commands: readonly CallbackCommand[]): Case {
  return { name, run: () => keep(runAll(newWallet(), commands)) };
}

const played = runAll(newWallet(), places);

/** Every run has its own wallet, so that no wallet grows. Only repeats share one, because they change nothing. */
export const deciding: Group = {
  name: 'decide and apply a callback',
  operations: CALLBACKS,
  cases: [
    fresh('placeBets, new', places),
    fresh(`placeBets, in arrays of ${ARRAY_LENGTH}, each bet`, arrays),
    { name: 'placeBets, repeat', run: () => keep(runAll(played, places)) },
    fresh('placeBets, then its settleBets by transaction', pairs),
    fresh('placeBets, then its settleBets by round', pairsByRound),
    fresh('placeBets, then its adjustBets', adjusted),
    fresh('placeBets, then its cancelBets', cancelled),
    fresh('settleBets, single-state, then its voidSettled', voidedSingles),
    fresh('settleBets, single-state, then its rollback', rolledBack),
    fresh('cancelTips, of unknown ones', cancelledTips),
    { name: 'checkBalance', run: () => keep(runAll(played, balances)) },
    fresh('placeTips, new', tips),
    fresh('placeTips, then its cancelTips', tipsBack),
    fresh('winRewards, new', rewards),
    fresh('adjustBalance, a debit, then a credit', purses),
  ],
  alternative: {
    name: 'a balance and a Map: placeBets, then its settleBets',
    run: () => {
      const wallet = new PlainWallet();
      for (const command of pairs) keep(wallet.execute(command));
    },
  },
};
