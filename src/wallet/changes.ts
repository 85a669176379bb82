import type { Change } from './event.js';
import type { LedgerKind } from './ledger-kind.js';

/** Properties of a kind of change, for all code but `apply` and the codec. */
interface ChangeFacts {
  /** The change's place in the books. */
  readonly kind: LedgerKind;
  /**
   * The change grows memory and can be refused while memory is full: the platform ends its game, and no player loses
   * money.
   */
  readonly opens: boolean;
  /** The change had no effect. It is remembered for answers to later messages. */
  readonly isNote?: true;
}

/** One row per change: a new change does not compile until it has its row. */
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
  // The kind of an entry that moves nothing: the kind is never counted.
  'message-remembered': { kind: 'movements', opens: false, isNote: true },
};
