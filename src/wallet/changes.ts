import type { Change } from './event.js';
import type { LedgerKind } from './ledger-kind.js';

/** Properties of one kind of change, for all code except `apply` and the codec. */
interface ChangeFacts {
  /** Ledger kind under which the change is posted. */
  readonly kind: LedgerKind;
  /**
   * True if the change uses memory. It can then be refused while memory is full; the platform then ends the game, and
   * no player loses money.
   */
  readonly opens: boolean;
  /** True if the change moves no money and is remembered only to answer later messages. */
  readonly isNote?: true;
}

/** One row per kind of change. The compiler rejects a new kind without a row. */
export const CHANGES: Readonly<Record<Change['type'], ChangeFacts>> = {
  'bet-placed': { kind: 'stakes', opens: true },
  'bet-confirmed': { kind: 'stakes', opens: false },
  'bet-confirmed-anew': { kind: 'stakes', opens: false },
  'bet-settled': { kind: 'payouts', opens: false },
  'single-state-settled': { kind: 'payouts', opens: true },
  'single-state-resettled': { kind: 'payouts', opens: false },
  'round-settled': { kind: 'payouts', opens: false },
  'bet-adjusted': { kind: 'adjustments', opens: false },
  'bet-voided': { kind: 'voids', opens: false },
  'round-voided': { kind: 'voids', opens: false },
  'bet-cancelled': { kind: 'refunds', opens: false },
  'round-cancelled': { kind: 'refunds', opens: false },
  'round-marked': { kind: 'refunds', opens: false, isNote: true },
  'cancel-remembered': { kind: 'refunds', opens: false, isNote: true },
  'tip-credited': { kind: 'tip-refunds', opens: false },
  'bet-rolled-back': { kind: 'rollbacks', opens: false },
  'round-rolled-back': { kind: 'rollbacks', opens: false },
  'rollback-repeated': { kind: 'rollbacks', opens: false, isNote: true },
  'tip-placed': { kind: 'tips', opens: true },
  'tip-cancelled': { kind: 'tip-refunds', opens: false },
  'reward-credited': { kind: 'rewards', opens: false },
  'reward-voided': { kind: 'voids', opens: false },
  'balance-debited': { kind: 'movements', opens: true },
  'balance-credited': { kind: 'movements', opens: false },
  // A placeholder kind: the entry moves no money, so its kind is never counted.
  'message-remembered': { kind: 'movements', opens: false, isNote: true },
};
