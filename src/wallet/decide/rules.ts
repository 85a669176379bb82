import type { Units } from '../amount.js';

/** A product of the platform that the operator has listed. */
export interface Product {
  readonly id: string;
  readonly blocked?: boolean | undefined;
}

/**
 * Settings of docs/decisions.md that `decide` reads. They shape decisions only: events carry results, so replay reads
 * none of them, and a setting may change between two starts.
 */
export interface Rules {
  /** `replay` answers a repeat with its first answer, `reject` with 20002. */
  readonly duplicates: 'replay' | 'reject';
  /** Messages that an ended round refuses: further payouts, nothing, or new bets too. */
  readonly roundEnded: 'refuse-payouts' | 'ignore' | 'refuse-all';
  /** Amounts that a void moves back: the recorded ones, or the request's. */
  readonly voidAmounts: 'recorded' | 'request';
  /** False: a void that would leave a negative balance answers 10002. */
  readonly voidAllowNegativeBalance: boolean;
  /** False: a rollback that would leave a negative balance answers 10002. */
  readonly rollbackAllowNegativeBalance: boolean;
  /** How to recognize the late retry of a rolled-back settle or cancel: by its request id, by its time, or not at all. */
  readonly rollbackStale: 'request' | 'time' | 'off';
  /** Settles and cancels remember their requests; false while a node of the cluster is too old to read that. */
  readonly keepsRequests: boolean;
  /** Acknowledged messages are remembered as a whole; false while a node of the cluster is too old to read that. */
  readonly remembersMessages: boolean;
  /** The cancel of a tip that was never seen: `credit` its amount once, or `reject` with 20001 and a tombstone. */
  readonly tipsUnknown: 'credit' | 'reject';
  /** Refuses a single-state settle when its round was cancelled BY_ROUND after the platform sent the settle. */
  readonly cancelStopsSingleState: boolean;
  /**
   * A confirmation may name another stake when none was taken. False also while a node of the cluster is too old to
   * read that.
   */
  readonly confirmsOtherStake: boolean;
  /** Most unknown tips credited per player and UTC day. */
  readonly tipsUnknownMax: number;
  /** Most tombstones and marks of unknown rounds per player. */
  readonly tombstonesMax: number;
  /** Most OPEN and WAITING bets per player. */
  readonly openBetsMax: number;
  /**
   * Largest number of adjustments of a bet, of rollbacks of a bet, and of payouts of a round. Also of the cancels,
   * voids and rollbacks of a round together, and of the messages that a round remembers as a whole.
   */
  readonly historyMax: number;
  /** How long ids are remembered after the last change of their round. Milliseconds. */
  readonly retentionMs: number;
  /**
   * Movements by hand above this many units need another operator, by currency; a currency that is not listed needs
   * none.
   */
  readonly approvalAbove: Readonly<Record<string, Units>>;
  /** Time for another operator to decide. Milliseconds. */
  readonly approvalMs: number;
  /** `check`: a bet, a tip or a balance requires the token of the player's session. */
  readonly sessionToken: 'ignore' | 'check';
  readonly productsUnlisted: 'accept' | 'reject';
  readonly products: ReadonlyMap<string, Product>;
}

export function refusesProduct(rules: Rules, productId: string): boolean {
  const product = rules.products.get(productId);
  return product === undefined ? rules.productsUnlisted === 'reject' : product.blocked === true;
}
