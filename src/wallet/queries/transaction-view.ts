import type { OpenSince, TransactionView } from '../query.js';
import type { Transaction } from '../state/round.js';
import type { TransactionKind } from '../state/transaction-kind.js';
import type { Wallet } from '../state/wallet.js';

export function openSinceOf(item: Transaction): OpenSince | undefined {
  return item.isReopened ? 'rollback' : undefined;
}

const NO_STAKE: readonly TransactionKind[] = ['settlement', 'reward', 'credit'];

export function transactionView(wallet: Wallet, item: Transaction): TransactionView {
  return {
    username: wallet.username,
    currency: wallet.currency,
    kind: item.kind,
    id: item.id,
    productId: item.round.productId,
    roundId: item.round.id,
    state: item.state,
    openSince: openSinceOf(item),
    betAmount: NO_STAKE.includes(item.kind) ? undefined : item.stake,
    payoutAmount: item.payout,
    held: item.held,
    paid: item.paid,
    createdMs: item.createdMs,
    updatedMs: item.updatedMs,
  };
}
