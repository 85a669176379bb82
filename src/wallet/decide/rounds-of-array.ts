import type {
  CallbackCommand,
  CancelBetsCommand,
  CancelTxn,
  RollbackCommand,
  RollbackTxn,
  VoidSettledCommand,
  VoidTxn,
} from '../command.js';
import type { Failure } from '../rejection.js';
import type { Transaction } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';

type Txn = CancelTxn | VoidTxn | RollbackTxn;

/**
 * The rounds that an array of cancels, voids or rollbacks has been at: as a whole, or in one of their bets. Platforms name a
 * round beside its bets, and once per bet, and mean one thing.
 */
export class RoundsOfArray {
  /** Something of them was closed here, or its result taken back, and not before: an element that names one of them means the same. */
  private readonly begun = new Set<string>();
  /** Closed as a whole, here or when this array came first. */
  private readonly wholly = new Set<string>();

  private constructor(private readonly command: CancelBetsCommand | VoidSettledCommand | RollbackCommand) {}

  static of(command: CallbackCommand): RoundsOfArray | undefined {
    const { type } = command;
    return type === 'cancelBets' || type === 'voidSettled' || type === 'rollback'
      ? new RoundsOfArray(command)
      : undefined;
  }

  hasBegun(index: number): boolean {
    return this.begun.has(this.txn(index).roundId);
  }

  /** What is about to change `draft`. */
  add(draft: Wallet, index: number): void {
    const { id, roundId, byRound } = this.txn(index);
    if (byRound) {
      this.wholly.add(roundId);
      this.begun.add(roundId);
      return;
    }
    // Tips and rewards are closed here, too, and are of no round.
    const bet = this.bet(draft, id);
    if (bet?.kind !== 'bet') return;
    // A refund that is taken back says nothing about the results of the round.
    if (this.command.type !== 'rollback' || bet.state === 'SETTLED') this.begun.add(bet.round.id);
  }

  addRepeat(index: number): void {
    const { roundId, byRound } = this.txn(index);
    if (byRound) this.wholly.add(roundId);
  }

  /** True for a bet that was not closed by itself but with its round, as this array asked for. */
  tookAlong(draft: Wallet, index: number, failure: Failure): boolean {
    if (failure !== 'already-cancelled' || this.command.type === 'rollback') return false;
    const { id, byRound } = this.txn(index);
    const bet = byRound ? undefined : this.bet(draft, id);
    if (bet?.kind !== 'bet' || !this.wholly.has(bet.round.id)) return false;
    return (bet.state === 'VOID') === (this.command.type === 'voidSettled');
  }

  private txn(index: number): Txn {
    return (this.command.txns as readonly Txn[])[index] as Txn;
  }

  private bet(draft: Wallet, id: string): Transaction | undefined {
    return draft.bet(this.command.productId, id);
  }
}
