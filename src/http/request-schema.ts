import { Ajv, type ValidateFunction } from 'ajv';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import type { Endpoint } from '../wallet/command.js';
import { ID_LENGTH_MAX, isLongerThan } from '../wallet/identifier.js';

/*
 * The six requests as JSON Schema (callback-interface.md section 2, limits of decisions.md section 1). What the schema
 * cannot say (decimals, sums, lone surrogates) is checked in request-codec.ts. Unknown fields are tolerated: real
 * traffic carries some in many places.
 */
const PLAY_INFO_LENGTH_MAX = 1024;

const text = (least: number, most: number) => Type.Unsafe<string>({ type: 'string', codePoints: [least, most] });
const id = text(1, ID_LENGTH_MAX);
const amount = Type.Number({ minimum: 0 });
const flag = Type.Optional(Type.Boolean());
const game = { gameCode: id, playInfo: text(0, PLAY_INFO_LENGTH_MAX) };
const features = { isFeature: flag, isFeatureBuy: flag };
const transactionType = Type.Union([Type.Literal('BY_TRANSACTION'), Type.Literal('BY_ROUND')]);

function request<T extends TProperties>(txn: T, txnsMax: number) {
  return Type.Object({
    id,
    timestampMillis: Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    productId: id,
    currency: id,
    username: id,
    txns: Type.Array(Type.Object({ id, roundId: id, ...txn }), { minItems: 1, maxItems: txnsMax }),
  });
}

export function requestSchemas(txnsMax: number) {
  return {
    placeBets: request(
      {
        status: Type.Union([Type.Literal('OPEN'), Type.Literal('WAITING')]),
        betAmount: amount,
        skipBalanceUpdate: flag,
        ...game,
        ...features,
      },
      txnsMax,
    ),
    settleBets: request(
      {
        status: Type.Literal('SETTLED'),
        betAmount: amount,
        payoutAmount: amount,
        turnOver: amount,
        isSingleState: Type.Boolean(),
        transactionType,
        isEndRound: flag,
        skipBalanceUpdate: flag,
        ...game,
        ...features,
      },
      txnsMax,
    ),
    adjustBets: request({ status: Type.Literal('OPEN'), betAmount: amount, ...game }, txnsMax),
    voidSettled: request(
      { status: Type.Literal('VOID'), betAmount: amount, payoutAmount: amount, transactionType, ...game },
      txnsMax,
    ),
    cancelBets: request(
      {
        status: Type.Union([Type.Literal('REFUND'), Type.Literal('REJECT')]),
        betAmount: amount,
        transactionType,
        ...game,
      },
      txnsMax,
    ),
    cancelTips: request({ status: Type.Literal('REFUND'), betAmount: amount }, txnsMax),
  } satisfies Record<Endpoint, TObject>;
}

type Schemas = ReturnType<typeof requestSchemas>;
export type RequestBody<E extends Endpoint> = Static<Schemas[E]>;
export type Validators = { readonly [E in Endpoint]: ValidateFunction<RequestBody<E>> };

/** Compiles the schemas, once. */
export function compileValidators(txnsMax: number): Validators {
  const ajv = new Ajv({ strict: true });
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
