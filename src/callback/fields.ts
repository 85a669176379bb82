import { boolean, choice, number, type Schema, string } from '../base/json-schema.js';
import { nearestUnits, tryUnits, type Units } from '../wallet/amount.js';
import { ID_LENGTH_MAX } from '../wallet/identifier.js';
import { InvalidField } from './refusal.js';

/*
 * Fields shared by several callbacks (docs/callbacks.md), with the limits of docs/decisions.md section 1. Rules that a
 * schema cannot express (decimals, sums, lone surrogates) are checked when a body is converted to a command.
 */
const PLAY_INFO_LENGTH_MAX = 1024;

const text = (least: number, most: number, description: string) => string({ codePoints: [least, most], description });

export const idOf = (what: string) => text(1, ID_LENGTH_MAX, what);
export const amountOf = (what: string) =>
  number({
    minimum: 0,
    description: `${what}, in whole currency units. An amount with more decimals than the currency has (money.scales) is malformed.`,
  });
export const flag = (description: string) => boolean({ default: false, description });
export const stake = amountOf('Stake');
export const payout = amountOf('Payout: the stake plus the winnings');
export const game = {
  gameCode: idOf('Game code'),
  playInfo: text(0, PLAY_INFO_LENGTH_MAX, "The player's choice, the name of the game, or UNKNOWN"),
};
export const features = {
  isFeature: flag('A feature spin or feature game'),
  isFeatureBuy: flag('The bet buys a feature spin or feature game'),
};
export const skipBalanceUpdate = flag('True: the message changes states but not the balance');
export const transactionType = choice(['BY_TRANSACTION', 'BY_ROUND'], {
  description: 'Whether the message concerns the transaction with this id or the whole round',
});

/**
 * A field that occurs only in requests for a different endpoint. The signature does not cover the path, so an attacker
 * could send a captured request to this endpoint, where it would credit money without a bet.
 */
export const foreign: Schema<unknown> = { foreign: true, description: 'Field of another endpoint: refused here' };

/** The scale and the limits that are used when a request's amounts are converted to units. */
export interface Money {
  readonly scale: number;
  /** The largest single amount, in whole currency units. */
  readonly amountMax: number;
  /** The largest single credit without a bet, in whole currency units. */
  readonly creditMax: number;
  /** The largest single adjustBalance credit, in whole currency units. */
  readonly movementMax: number;
  /** See `BodyRules`. */
  readonly isStrict: boolean;
}

/** Converts an amount to units. Throws an `InvalidField` that names `field`. */
export function mustUnits(value: number, { scale, amountMax }: Money, field: string): Units {
  const units = tryUnits(value, scale);
  if (value > amountMax) throw new InvalidField(field, 'range', `must be at most ${amountMax} (money.amountMax)`);
  if (units === undefined) throw new InvalidField(field, 'decimals', `must have at most ${scale} decimals`);
  return units;
}

/**
 * Converts an amount that the wallet only compares and never moves. Excess decimals are rounded. Otherwise, excess
 * decimals of an amount that does not move could prevent a player's refund.
 */
export function comparedUnits(value: number, { scale }: Money): Units {
  return nearestUnits(value, scale);
}

/** True if `mustUnits` accepts the amount. */
export function isAmount(value: number, { scale, amountMax }: Money): boolean {
  return value <= amountMax && tryUnits(value, scale) !== undefined;
}
