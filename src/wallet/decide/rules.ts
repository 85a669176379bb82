import type { Units } from '../amount.js';

/** A product of the platform that the operator has listed. */
export interface Product {
  readonly id: string;
  readonly blocked?: boolean | undefined;
}

/**
 * The knobs of docs/decisions.md that `decide` reads. They shape decisions only: events carry results, so replay reads none
 * of these, and a knob may change between two starts.
 */
export interface Rules {
  /** `replay` answers a repeat with its first answer, `reject` with 20002. */
  readonly duplicates: 'replay' | 'reject';
  /** What a round that has ended refuses: further payouts, nothing, or also new bets. */
  readonly roundEnded: 'refuse-payouts' | 'ignore' | 'refuse-all';
  /** Whose amounts a void moves back: what was recorded here, or what the request says. */
  readonly voidAmounts: 'recorded' | 'request';
  /** False: a void that would leave a negative balance answers 10002. */
  readonly voidAllowNegativeBalance: boolean;
  /** False: a rollback that would leave a negative balance answers 10002. */
  readonly rollbackAllowNegativeBalance: boolean;
  /** How the late retry of a settle or cancel that was rolled back is known: by its request id, by its time, or not. */
  readonly rollbackStale: 'request' | 'time' | 'off';
  /** Settles and cancels remember their requests: false while a node of the cluster is too old to read that. */
  readonly keepsRequests: boolean;
  /** Acknowledged messages are remembered as a whole: false while a node of the cluster is too old to read that. */
  readonly remembersMessages: boolean;
  /** The cancel of a tip that was never seen: `credit` its amount once, or `reject` with 20001 and a tombstone. */
  readonly tipsUnknown: 'credit' | 'reject';
  /** A single-state settle of a round that was cancelled BY_ROUND later than the platform sent it is refused. */
  readonly cancelStopsSingleState: boolean;
  /** A confirmation may name another stake where none was taken; false also while a node of the cluster is too old to read that. */
  readonly confirmsOtherStake: boolean;
  /** Unknown tips credited per player and UTC day. */
  readonly tipsUnknownMax: number;
  /** Tombstones and marks of unknown rounds per player. */
  readonly tombstonesMax: number;
  /** OPEN and WAITING bets per player. */
  readonly openBetsMax: number;
  /**
   * Adjustments of one bet, rollbacks of one bet, payouts of one round, cancels, voids and rollbacks of one round, messages that one
   * round remembers as a whole.
   */
  readonly historyMax: number;
  /** How long ids are remembered after the last change of their round. Milliseconds. */
  readonly retentionMs: number;
  /** Movements by hand of more than so many units need another operator, by currency; one that is not listed needs none. */
  readonly approvalAbove: Readonly<Record<string, Units>>;
  /** How long another operator has for it. Milliseconds. */
  readonly approvalMs: number;
  /** `check`: a bet, a tip or a balance needs the token of the player's session. */
  readonly sessionToken: 'ignore' | 'check';
  readonly productsUnlisted: 'accept' | 'reject';
  readonly products: ReadonlyMap<string, Product>;
}

export function refusesProduct(rules: Rules, productId: string): boolean {
  const product = rules.products.get(productId);
  return product === undefined ? rules.productsUnlisted === 'reject' : product.blocked === true;
}
