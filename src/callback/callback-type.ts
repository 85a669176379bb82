import {
  array,
  type NoProperties,
  nullable,
  number,
  type ObjectSchema,
  object,
  type Properties,
  type Schema,
  type TypeOf,
} from '../base/json-schema.js';
import type { Endpoint, PlatformCommand } from '../wallet/command.js';
import { idOf, type Money } from './fields.js';
import { type BodyRefusal, InvalidField } from './refusal.js';

type CommandOf<E extends Endpoint> = Extract<PlatformCommand, { type: E }>;
type TxnOf<E extends Endpoint> = CommandOf<E> extends { readonly txns: readonly (infer T)[] } ? T : never;

export const envelope = {
  id: idOf('Request id'),
  timestampMillis: number({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Time of sending by the platform's clock, in milliseconds since 1970",
  }),
  productId: idOf('Product'),
  currency: idOf("The player's currency, as an ISO 4217 code"),
  username: idOf('Player'),
};
const txnFields = { id: idOf('Transaction id'), roundId: idOf('Round id') };
export const ENVELOPE_EXAMPLE = {
  id: 'req-1',
  timestampMillis: 1_795_000_000_000,
  productId: 'SLOTS',
  currency: 'THB',
  username: 'ann',
};

/** Fields of every request (docs/callbacks.md section 2). */
export type Envelope = TypeOf<ObjectSchema<{ [K in keyof typeof envelope]: TypeOf<(typeof envelope)[K]> }>>;

/** Platforms send null and invalid values in this field, so it is validated only where tokens are checked. */
export const sessionToken: Schema = { description: "Token of the player's session; checked if sessionToken is check." };

/** Settings that determine the form of request bodies. */
export interface BodyRules {
  /** Maximum number of elements in a request. */
  readonly txnsMax: number;
  /**
   * True if `isFeature` is required for a stake of 0, and if all fields are required that do not affect the decision
   * (`callbacks.strict`).
   */
  readonly isStrict: boolean;
}

export type StandIns = Readonly<Record<string, string | number>>;

export type AnswerShape = 'balances' | 'balance';

/** One callback of the platform's API: the shape of its body, the conversion to a command, and the documentation. */
export interface CallbackType<E extends Endpoint = Endpoint> {
  readonly summary: string;
  /** An example body, for the docs. */
  readonly example: object;
  /** The shape of a successful answer. It contains either the balances before and after or only the current balance. */
  readonly answer: AnswerShape;
  /** True if a player's action in a game causes the callback. The player's session can then have a token. */
  readonly hasSession: boolean;
  /** Envelope fields that may be missing or null unless `isStrict` is set, each with its default. */
  readonly standIns: StandIns;
  /** Element fields that may be missing or null unless `isStrict` is set, each with its default. */
  readonly txnStandIns: StandIns;
  /**
   * The schema of the body after defaults have been filled in. Unknown fields are tolerated, because platforms add
   * fields in many places.
   */
  schema(rules: BodyRules): ObjectSchema;
  /** Converts a body that matches the schema. Refuses a body that breaks a rule beyond the schema. */
  toCommand(body: Envelope, money: Money): CommandOf<E> | BodyRefusal;
}

/**
 * The schema as published, in which fields with a default may be missing or null. In the schema for validation, these
 * fields are required, because their defaults have already been filled in.
 */
export function withOptionalFields(schema: ObjectSchema, standIns: StandIns): ObjectSchema {
  const { required, properties } = schema as ObjectSchema & { readonly required: readonly string[] };
  const fields = Object.entries(standIns).map(([name, standIn]) => [
    name,
    lenient(properties[name] as Schema, standIn),
  ]);
  return {
    ...schema,
    properties: { ...properties, ...Object.fromEntries(fields) },
    published: { required: required.filter((name) => !(name in standIns)) },
  };
}

function lenient(field: Schema, standIn: string | number): Schema {
  const { type, enum: values } = nullable(field);
  const codePoints = standIn === '' && { codePoints: [0, (field.codePoints as [number, number])[1]] };
  return { ...field, ...codePoints, published: { type, ...(values !== undefined && { enum: values }) } };
}

type TxnBody<P extends Properties, O extends Properties> = TypeOf<ReturnType<typeof object<P, O>>>;

interface WithTxns<E extends Endpoint, P extends Properties, O extends Properties> {
  readonly summary: string;
  /** An example of a valid element, for the docs. */
  readonly example: object;
  readonly txn: P;
  readonly optional?: O;
  readonly hasSession?: true;
  readonly standIns?: StandIns;
  /** JSON Schema, for the docs, of the rules that `toTxn` checks if `isStrict` is set. */
  readonly strictRules?: object;
  /** Converts an element. Throws an `InvalidField`. */
  readonly toTxn: (txn: TxnBody<P, O>, money: Money) => TxnOf<E>;
}

/**
 * Describes a callback with an array of transactions, each with an id and a round id. `txn` lists the remaining fields.
 */
export function withTxns<E extends Endpoint, P extends Properties, O extends Properties = NoProperties>(
  type: E,
  { txn, ...rest }: Omit<WithTxns<E, typeof txnFields & P, O>, 'txn'> & { readonly txn: P },
): CallbackType<E> {
  return withElements<E, typeof txnFields & P, O>(type, { ...rest, txn: { ...txnFields, ...txn } });
}

/** Like `withTxns`, but `txn` lists all fields of an element. */
export function withElements<E extends Endpoint, P extends Properties, O extends Properties = NoProperties>(
  type: E,
  { summary, example, txn, optional, hasSession, standIns = {}, strictRules, toTxn }: WithTxns<E, P, O>,
): CallbackType<E> {
  return {
    summary,
    example: { ...ENVELOPE_EXAMPLE, txns: [example] },
    answer: 'balances',
    hasSession: hasSession === true,
    standIns: {},
    txnStandIns: standIns,
    schema: ({ txnsMax, isStrict }) => {
      const published = isStrict && strictRules !== undefined ? { published: strictRules } : {};
      const element = object(txn, optional, published);
      const items = isStrict ? element : withOptionalFields(element, standIns);
      const txns = array(items, { minItems: 1, maxItems: txnsMax });
      return object({ ...envelope, txns }, hasSession && { sessionToken });
    },
    // Copy the elements into objects of one V8 shape. Parsed objects have a different shape for every order of fields.
    toCommand: (body, money) => {
      const { id, timestampMillis, productId, currency, username, txns } = body as Envelope & {
        readonly txns: readonly TxnBody<P, O>[];
      };
      const converted: TxnOf<E>[] = [];
      try {
        for (const txn of txns) converted.push(toTxn(txn, money));
      } catch (error) {
        if (error instanceof InvalidField) return error.inTxn(converted.length);
        throw error;
      }
      return {
        type,
        id,
        timestampMillis,
        productId,
        currency,
        username,
        txns: converted,
      } as unknown as CommandOf<E>;
    },
  };
}
