import { Ajv, type ValidateFunction } from 'ajv';
import {
  array,
  boolean,
  choice,
  type NoProperties,
  number,
  type ObjectSchema,
  object,
  type Properties,
  string,
  type TypeOf,
} from '../base/json-schema.js';
import type { Endpoint } from '../wallet/command.js';
import { ID_LENGTH_MAX, isLongerThan } from '../wallet/identifier.js';

/*
 * The six requests as JSON Schema (callback-interface.md section 2, limits of decisions.md section 1). What the schema
 * cannot say (decimals, sums, lone surrogates) is checked in request-codec.ts. Unknown fields are tolerated: real
 * traffic carries some in many places.
 */
const PLAY_INFO_LENGTH_MAX = 1024;

const text = (least: number, most: number) => string({ codePoints: [least, most] });
const id = text(1, ID_LENGTH_MAX);
const amount = number({ minimum: 0 });
const flag = boolean();
const game = { gameCode: id, playInfo: text(0, PLAY_INFO_LENGTH_MAX) };
const features = { isFeature: flag, isFeatureBuy: flag };
const transactionType = choice(['BY_TRANSACTION', 'BY_ROUND']);

export function requestSchemas(txnsMax: number) {
  const request = <P extends Properties, O extends Properties = NoProperties>(txn: P, optional?: O) =>
    object({
      id,
      timestampMillis: number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      productId: id,
      currency: id,
      username: id,
      txns: array(object({ id, roundId: id, ...txn }, optional), { minItems: 1, maxItems: txnsMax }),
    });
  return {
    placeBets: request(
      { status: choice(['OPEN', 'WAITING']), betAmount: amount, ...game },
      { skipBalanceUpdate: flag, ...features },
    ),
    settleBets: request(
      {
        status: choice(['SETTLED']),
        betAmount: amount,
        payoutAmount: amount,
        turnOver: amount,
        isSingleState: boolean(),
        transactionType,
        ...game,
      },
      { isEndRound: flag, skipBalanceUpdate: flag, ...features },
    ),
    adjustBets: request({ status: choice(['OPEN']), betAmount: amount, ...game }),
    voidSettled: request({
      status: choice(['VOID']),
      betAmount: amount,
      payoutAmount: amount,
      transactionType,
      ...game,
    }),
    cancelBets: request({ status: choice(['REFUND', 'REJECT']), betAmount: amount, transactionType, ...game }),
    cancelTips: request({ status: choice(['REFUND']), betAmount: amount }),
  } satisfies Record<Endpoint, ObjectSchema>;
}

type Schemas = ReturnType<typeof requestSchemas>;
export type RequestBody<E extends Endpoint> = TypeOf<Schemas[E]>;
export type Validators = { readonly [E in Endpoint]: ValidateFunction<RequestBody<E>> };

/** Compiles the schemas, once a thread. Whether they are schemas is checked by a test, and not at each start. */
export function compileValidators(txnsMax: number): Validators {
  const ajv = new Ajv({ strict: true, validateSchema: false, meta: false });
  ajv.addKeyword({
    keyword: 'codePoints',
    type: 'string',
    schemaType: 'array',
    // ajv's own maxLength counts code points of every string. Only one with more units than allowed needs that.
    compile:
      ([least, most]: [number, number]) =>
      (value: string) =>
        value.length >= least && !isLongerThan(value, most),
  });
  const schemas = requestSchemas(txnsMax);
  return Object.fromEntries(
    Object.entries(schemas).map(([endpoint, schema]) => [endpoint, ajv.compile(schema)]),
  ) as unknown as Validators;
}
