/*
 * The platform's callbacks as the reference wallet reads them. The terms deliberately differ from walletd's: the judge
 * and the program under test share only the specification. Amounts are whole units.
 */
export type Callback =
  | (Envelope & { readonly type: 'placeBets'; readonly session?: string | undefined; readonly txns: readonly Place[] })
  | (Envelope & { readonly type: 'settleBets'; readonly txns: readonly Settle[] })
  | (Envelope & { readonly type: 'adjustBets'; readonly txns: readonly Adjust[] })
  | (Envelope & { readonly type: 'voidSettled'; readonly txns: readonly Void[] })
  | (Envelope & { readonly type: 'cancelBets'; readonly txns: readonly Cancel[] })
  | (Envelope & { readonly type: 'cancelTips'; readonly txns: readonly Adjust[] })
  | (Envelope & { readonly type: 'rollback'; readonly txns: readonly Rollback[] })
  | (Envelope & { readonly type: 'placeTips'; readonly session?: string | undefined; readonly txns: readonly Tip[] })
  | (Envelope & { readonly type: 'winRewards'; readonly txns: readonly Reward[] })
  | (Envelope & { readonly type: 'adjustBalance'; readonly txns: readonly Movement[] });

export interface CheckBalance extends Omit<Envelope, 'timestampMillis'> {
  readonly type: 'checkBalance';
  readonly session?: string | undefined;
}

interface Envelope {
  readonly id: string;
  readonly timestampMillis: number;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
}

interface Element {
  readonly id: string;
  readonly roundId: string;
}

interface Place extends Element {
  readonly status: 'OPEN' | 'WAITING';
  readonly betAmount: number;
  readonly skipBalanceUpdate: boolean;
}

interface Settle extends Element {
  readonly betAmount: number;
  readonly payoutAmount: number;
  readonly isSingleState: boolean;
  readonly byRound: boolean;
  readonly isEndRound: boolean;
  readonly skipBalanceUpdate: boolean;
}

interface Adjust extends Element {
  readonly betAmount: number;
}

interface Void extends Element {
  readonly betAmount: number;
  readonly payoutAmount: number;
  readonly byRound: boolean;
}

interface Cancel extends Element {
  readonly status: 'REFUND' | 'REJECT';
  readonly byRound: boolean;
}

interface Rollback extends Element {
  readonly payoutAmount: number;
  readonly byRound: boolean;
  readonly skipBalanceUpdate: boolean;
}

interface Tip extends Element {
  readonly betAmount: number;
  readonly skipBalanceUpdate: boolean;
}

interface Reward extends Element {
  readonly payoutAmount: number;
  /** True if the amount exceeds what the operator allows in one credit. */
  readonly isTooMuch?: boolean;
}

/** A movement, whose id the platform calls `refId`. */
interface Movement extends Element {
  readonly status: 'DEBIT' | 'CREDIT';
  readonly amount: number;
  /** True if the amount exceeds what the operator allows in one credit. */
  readonly isTooMuch: boolean;
}

/** A balance correction by an operator. */
export interface Correction {
  readonly id: string;
  readonly username: string;
  readonly amount: number;
  readonly reason: string;
  readonly allowNegativeBalance: boolean;
}

/** The operator's choices, each of which docs/decisions.md explains. */
export interface ReferenceRules {
  readonly duplicates: 'replay' | 'reject';
  readonly roundEnded: 'refuse-payouts' | 'ignore' | 'refuse-all';
  readonly voidAmounts: 'recorded' | 'request';
  readonly voidAllowNegativeBalance: boolean;
  readonly rollbackAllowNegativeBalance: boolean;
  readonly rollbackStale: 'request' | 'time' | 'off';
  readonly cancelStopsSingleState: boolean;
  readonly confirmsOtherStake: boolean;
  readonly tipsUnknown: 'credit' | 'reject';
  readonly tipsUnknownMax: number;
  readonly tombstonesMax: number;
  readonly openBetsMax: number;
  readonly historyMax: number;
  readonly sessionToken: 'ignore' | 'check';
  readonly productsUnlisted: 'accept' | 'reject';
  readonly products: ReadonlyMap<string, { readonly blocked?: boolean | undefined }>;
}
