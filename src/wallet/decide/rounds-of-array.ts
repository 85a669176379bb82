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
 * The rounds that an array of cancels, voids or rollbacks has touched, directly or through a bet. Some platforms list a
 * round together with its bets, or name the round once for each of its bets; all these elements request the same
 * effect.
 */
export class RoundsOfArray {
  /**
   * Rounds in which this array has already closed a bet or taken back a result. A later element that names such a round
   * requests the same effect.
   */
  private readonly begun = new Set<string>();
  /** Rounds that an element of this array closes BY_ROUND, even if that element is a repeat. */
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

  /** Notes an element that is about to change `draft`. */
  add(working: Wallet, index: number): void {
    const { id, roundId, byRound } = this.txn(index);
    if (byRound) {
      this.wholly.add(roundId);
      this.begun.add(roundId);
      return;
    }
    // The array can also close tips and rewards, which belong to no round.
    const bet = this.bet(working, id);
    if (bet?.kind !== 'bet') return;
    // Taking back a refund does not affect the round's results.
    if (this.command.type !== 'rollback' || bet.state === 'SETTLED') this.begun.add(bet.round.id);
  }

  addRepeat(index: number): void {
    const { roundId, byRound } = this.txn(index);
    if (byRound) this.wholly.add(roundId);
  }

  /** True for a bet that was closed as part of its round, as this array requests, rather than individually. */
  closedWithRound(working: Wallet, index: number, failure: Failure): boolean {
    if (failure !== 'already-cancelled' || this.command.type === 'rollback') return false;
    const { id, byRound } = this.txn(index);
    const bet = byRound ? undefined : this.bet(working, id);
    if (bet?.kind !== 'bet' || !this.wholly.has(bet.round.id)) return false;
    return (bet.state === 'VOID') === (this.command.type === 'voidSettled');
  }

  private txn(index: number): Txn {
    return (this.command.txns as readonly Txn[])[index] as Txn;
  }

  private bet(working: Wallet, id: string): Transaction | undefined {
    return working.bet(this.command.productId, id);
  }
}
