import { boolean, choice, number, string } from '../base/json-schema.js';
import { maybeUnits, type Units } from '../wallet/amount.js';
import { ID_LENGTH_MAX } from '../wallet/identifier.js';

/*
 * The fields that several callbacks have (docs/callbacks.md), with the limits of docs/decisions.md section 1. What a
 * schema cannot say (decimals, sums, lone surrogates) is checked when a body becomes a command.
 */
const PLAY_INFO_LENGTH_MAX = 1024;

const text = (least: number, most: number) => string({ codePoints: [least, most] });

export const id = text(1, ID_LENGTH_MAX);
export const amount = number({ minimum: 0 });
export const flag = boolean();
export const game = { gameCode: id, playInfo: text(0, PLAY_INFO_LENGTH_MAX) };
export const features = { isFeature: flag, isFeatureBuy: flag };
export const transactionType = choice(['BY_TRANSACTION', 'BY_ROUND']);

/** How amounts of a request's currency leave the wire and become units. */
export interface Money {
  readonly scale: number;
  /** Largest single amount, in whole currency. */
  readonly amountMax: number;
}

/** Thrown by a conversion that finds an amount which is none; caught where the request is read. */
export const NOT_AN_AMOUNT = new Error('not an amount');

export function mustUnits(value: number, { scale, amountMax }: Money): Units {
  const units = maybeUnits(value, scale);
  if (units === undefined || value > amountMax) throw NOT_AN_AMOUNT;
  return units;
}
