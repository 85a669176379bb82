import {
  array,
  type NoProperties,
  number,
  type ObjectSchema,
  object,
  type Properties,
  type TypeOf,
} from '../base/json-schema.js';
import type { CallbackCommand, Endpoint } from '../wallet/command.js';
import { id, type Money } from './fields.js';

type CommandOf<E extends Endpoint> = Extract<CallbackCommand, { type: E }>;
type TxnOf<E extends Endpoint> = CommandOf<E> extends { readonly txns: readonly (infer T)[] } ? T : never;

const envelope = {
  id,
  timestampMillis: number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  productId: id,
  currency: id,
  username: id,
};
const txnFields = { id, roundId: id };

/** What every request says about itself (docs/callbacks.md section 2). */
export type Envelope = TypeOf<ObjectSchema<{ [K in keyof typeof envelope]: TypeOf<(typeof envelope)[K]> }>>;

/** All that the platform's language says about one callback: its shape, what it means as a command, a sentence for the docs. */
export interface CallbackType<E extends Endpoint = Endpoint> {
  readonly summary: string;
  /** Of its body. Unknown fields are tolerated: real traffic carries some in many places. */
  schema(txnsMax: number): ObjectSchema;
  /** Of a body that the schema accepts. Throws `NOT_AN_AMOUNT`. */
  toCommand(body: Envelope, money: Money): CommandOf<E>;
}

type TxnBody<P extends Properties, O extends Properties> = TypeOf<ReturnType<typeof object<typeof txnFields & P, O>>>;

/** A callback that carries an array of transactions: `txn` has the fields of an element beside its ids. */
export function withTxns<E extends Endpoint, P extends Properties, O extends Properties = NoProperties>(
  type: E,
  {
    summary,
    txn,
    optional,
    toTxn,
  }: {
    readonly summary: string;
    readonly txn: P;
    readonly optional?: O;
    readonly toTxn: (txn: TxnBody<P, O>, money: Money) => TxnOf<E>;
  },
): CallbackType<E> {
  const txnSchema = object({ ...txnFields, ...txn }, optional);
  return {
    summary,
    schema: (txnsMax) => object({ ...envelope, txns: array(txnSchema, { minItems: 1, maxItems: txnsMax }) }),
    // Copies into objects of one shape: parsed ones have as many shapes as there are orders of fields.
    toCommand: (body, money) => {
      const { id, timestampMillis, productId, currency, username, txns } = body as Envelope & {
        readonly txns: readonly TxnBody<P, O>[];
      };
      return {
        type,
        id,
        timestampMillis,
        productId,
        currency,
        username,
        txns: txns.map((one) => toTxn(one, money)),
      } as unknown as CommandOf<E>;
    },
  };
}
