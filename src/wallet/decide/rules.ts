import type { Units } from '../amount.js';

/** A platform product that the operator has listed in the settings. */
export interface Product {
  readonly id: string;
  readonly blocked?: boolean | undefined;
}

/**
 * Settings that `decide` reads; docs/decisions.md describes them. They affect only decisions. Events contain results,
 * so replay does not depend on the settings, and a setting may change between two starts.
 */
export interface Rules {
  /** `replay` answers a repeat with its first answer, `reject` with 20002. */
  readonly duplicates: 'replay' | 'reject';
  /** Messages that an ended round refuses: further payouts, none, or further payouts and new bets. */
  readonly roundEnded: 'refuse-payouts' | 'ignore' | 'refuse-all';
  /** Amounts that a void reverses: the recorded amounts, or those in the request. */
  readonly voidAmounts: 'recorded' | 'request';
  /** If false, a void that would leave a negative balance is answered with 10002. */
  readonly voidAllowNegativeBalance: boolean;
  /** If false, a rollback that would leave a negative balance is answered with 10002. */
  readonly rollbackAllowNegativeBalance: boolean;
  /**
   * How a late retry of a settle or cancel that was rolled back is recognized: by its request id, by its time, or not
   * at all.
   */
  readonly rollbackStale: 'request' | 'time' | 'off';
  /**
   * True if settles and cancels store their requests. False while any node of the cluster is too old to read such
   * records.
   */
  readonly keepsRequests: boolean;
  /**
   * True if each acknowledged message is remembered in full. False while any node of the cluster is too old to read
   * such records.
   */
  readonly remembersMessages: boolean;
  /** Handling of a cancel for an unknown tip: `credit` its amount once, or `reject` with 20001 and a tombstone. */
  readonly tipsUnknown: 'credit' | 'reject';
  /**
   * True if a single-state settle is refused when its round was cancelled BY_ROUND after the platform had sent the
   * settle.
   */
  readonly cancelStopsSingleState: boolean;
  /**
   * True if a confirmation may name a different stake when no stake has been taken. False while any node of the cluster
   * is too old to read such records.
   */
  readonly confirmsOtherStake: boolean;
  /** Maximum number of unknown tips credited per player and UTC day. */
  readonly tipsUnknownMax: number;
  /** Maximum number of tombstones and marks of unknown rounds per player, counted together. */
  readonly tombstonesMax: number;
  /** Maximum number of OPEN and WAITING bets per player. */
  readonly openBetsMax: number;
  /**
   * Maximum number of adjustments per bet, rollbacks per bet and payouts per round. Also limits a round's cancels,
   * voids and rollbacks together, and the messages that a round remembers.
   */
  readonly historyMax: number;
  /** How long ids are remembered after the last change of their round, in milliseconds. */
  readonly retentionMs: number;
  /**
   * By currency: manual movements of more than this many units need approval by a second operator. In currencies that
   * are not listed, no movement needs approval.
   */
  readonly approvalAbove: Readonly<Record<string, Units>>;
  /** The time allowed for a second operator's decision, in milliseconds. */
  readonly approvalMs: number;
  /** With `check`, a player's session token is required to place a bet or tip and to read the balance. */
  readonly sessionToken: 'ignore' | 'check';
  readonly productsUnlisted: 'accept' | 'reject';
  readonly products: ReadonlyMap<string, Product>;
}

export function refusesProduct(rules: Rules, productId: string): boolean {
  const product = rules.products.get(productId);
  return product === undefined ? rules.productsUnlisted === 'reject' : product.blocked === true;
}
