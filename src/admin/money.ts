import { LosslessNumber, stringify } from 'lossless-json';
import { type AmountLimits, formatSum, formatUnits, type ScaleTable, tryUnits, type Units } from '../wallet/amount.js';
import { badRequest } from './problem.js';

/** An amount as a JSON number with all its digits, because doubles cannot represent the largest amounts exactly. */
export function money(scales: ScaleTable, currency: string, units: Units): LosslessNumber {
  return new LosslessNumber(formatUnits(units, scales.of(currency)));
}

/** Like `money`, for a total. */
export function sum(scales: ScaleTable, currency: string, units: bigint): LosslessNumber {
  return new LosslessNumber(formatSum(units, scales.of(currency)));
}

/** Serializes to JSON. Numbers from `money` and `sum` keep all their digits. */
export function toJson(value: unknown): string {
  return stringify(value) as string;
}

/** Rules for parsing amounts in a request body. */
export interface AmountRules {
  readonly scales: ScaleTable;
  readonly amountLimits: AmountLimits;
}

/** Like `mustUnits`, for a correction: a negative amount takes money from the player, and 0 is invalid. */
export function mustSignedUnits(rules: AmountRules, currency: string, value: unknown): Units {
  const scale = rules.scales.of(currency);
  const amountMax = rules.amountLimits.of(currency);
  const units = typeof value === 'number' ? tryUnits(Math.abs(value), scale) : undefined;
  if (units === undefined || units === 0 || Math.abs(value as number) > amountMax) {
    throw badRequest(
      `amount must be a number from -${amountMax} to ${amountMax}, not 0, with at most ${scale} decimals`,
    );
  }
  return (value as number) < 0 ? -units : units;
}

/** Throws a `Problem` that refers to the value as `name` if `value` is not an amount in the currency. */
export function mustUnits(rules: AmountRules, currency: string, value: unknown, name = 'amount'): Units {
  const scale = rules.scales.of(currency);
  const amountMax = rules.amountLimits.of(currency);
  const units = typeof value === 'number' ? tryUnits(value, scale) : undefined;
  if (units === undefined || (value as number) > amountMax) {
    throw badRequest(`${name} must be a number from 0 to ${amountMax} with at most ${scale} decimals`);
  }
  return units;
}
