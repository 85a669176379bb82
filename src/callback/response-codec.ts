import fastJson from 'fast-json-stringify';
import { LosslessNumber, stringify } from 'lossless-json';
import { integer, number, object, string } from '../base/json-schema.js';
import { fitsDouble, formatUnits, type ScaleTable, toDecimal, type Units } from '../wallet/amount.js';
import { type CallbackFailure, type ClosedCodes, type StatusCodes, statusCodesOf } from './failures.js';
import type { Echo } from './request-codec.js';

/** The shape of a successful answer (docs/callbacks.md section 2.4). */
export const successSchema = object({
  id: string(),
  statusCode: integer(),
  timestampMillis: integer(),
  productId: string(),
  currency: string(),
  balanceBefore: number(),
  balanceAfter: number(),
  username: string(),
});

/** The shape of the answer to checkBalance (docs/callbacks.md section 4.7). */
export const balanceSchema = object({
  id: string(),
  statusCode: integer(),
  timestampMillis: integer(),
  productId: string(),
  currency: string(),
  balance: number(),
  username: string(),
});

/** The shape of a failure. It has exactly these four fields; the answer to a malformed request also has a reason. */
export const failureSchema = object({
  id: string(),
  statusCode: integer(),
  timestampMillis: integer(),
  productId: string(),
});

/** The shape of the answer to a malformed request if `callbacks.reason` is on. */
export const malformedSchema = object({ ...failureSchema.properties, reason: string() });

const successJson = fastJson(successSchema);
const balanceJson = fastJson(balanceSchema);
const failureJson = fastJson(failureSchema);
const malformedJson = fastJson(malformedSchema);

/** Maximum length of a reason. Reasons never quote the request and are about 100 characters long. */
const REASON_LENGTH_MAX = 200;

export class ResponseCodec {
  private readonly codes: StatusCodes;

  constructor(
    private readonly scales: ScaleTable,
    closed: ClosedCodes,
  ) {
    this.codes = statusCodesOf(closed);
  }

  success(echo: Echo, before: Units, after: Units, nowMs: number): string {
    const { id, productId, currency, username } = echo;
    const scale = this.scales.of(currency);
    const isExact = fitsDouble(before) && fitsDouble(after);
    const body = {
      id,
      statusCode: 0,
      timestampMillis: nowMs,
      productId,
      currency,
      balanceBefore: numberOf(before, scale, isExact),
      balanceAfter: numberOf(after, scale, isExact),
      username,
    };
    return isExact ? successJson(body) : (stringify(body) as string);
  }

  balance(echo: Echo, balance: Units, nowMs: number): string {
    const { id, productId, currency, username } = echo;
    const scale = this.scales.of(currency);
    const isExact = fitsDouble(balance);
    const body = {
      id,
      statusCode: 0,
      timestampMillis: nowMs,
      productId,
      currency,
      balance: numberOf(balance, scale, isExact),
      username,
    };
    return isExact ? balanceJson(body) : (stringify(body) as string);
  }

  failure(echo: Pick<Echo, 'id' | 'productId'>, failure: CallbackFailure, nowMs: number): string {
    return failureJson({
      id: echo.id,
      statusCode: this.codes[failure],
      timestampMillis: nowMs,
      productId: echo.productId,
    });
  }

  malformed(echo: Pick<Echo, 'id' | 'productId'>, reason: string, nowMs: number): string {
    return malformedJson({
      id: echo.id,
      statusCode: this.codes.malformed,
      timestampMillis: nowMs,
      productId: echo.productId,
      reason: reason.slice(0, REASON_LENGTH_MAX),
    });
  }
}

/** The amount as a JSON number in whole currency units. */
function numberOf(units: Units, scale: number, isExact: boolean): number | LosslessNumber {
  return isExact ? toDecimal(units, scale) : new LosslessNumber(formatUnits(units, scale));
}
