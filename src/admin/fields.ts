import { CURRENCY } from '../base/currency.js';
import { boolean, choice, integer, number, object, type Schema, string } from '../base/json-schema.js';
import { ID_LENGTH_MAX, REASON_LENGTH_MAX } from '../wallet/identifier.js';
import { OPEN_SINCE } from '../wallet/query.js';
import { RESERVED_ID_PREFIX, UNDO_ATTEMPTS_MAX, UNDOABLES, type Undone } from '../wallet/undo-id.js';

/**
 * Request fields. `message` is the answer to an invalid value; `validation.ts` implements `codePoints`, `wellFormed`
 * and `wholeNumber`.
 */
const PAGE_DEFAULT = 50;
const PAGE_MAX = 1000;

/**
 * An ID of 1 to 256 characters. Lone surrogates are refused: they have no UTF-8 encoding, so two IDs that differ only
 * in lone surrogates would be equal in the log.
 */
export const id = string({
  codePoints: [1, ID_LENGTH_MAX],
  wellFormed: true,
  message: `must be a string of 1 to ${ID_LENGTH_MAX} characters`,
});

/** Operation ID. IDs in walletd's own format are rejected, because a request with such an ID could block an undo. */
export const operationId = string({
  codePoints: [1, ID_LENGTH_MAX],
  wellFormed: true,
  pattern: `^(?!${RESERVED_ID_PREFIX})`,
  message: `must be a string of 1 to ${ID_LENGTH_MAX} characters that does not begin with ${RESERVED_ID_PREFIX}`,
});

export const undoes: Schema<Undone> = object(
  { type: choice(UNDOABLES, { message: `must be one of ${UNDOABLES.join(', ')}` }), id },
  {
    productId: id,
    attempt: integer({
      minimum: 2,
      maximum: UNDO_ATTEMPTS_MAX,
      description: 'Number of the attempt, to request an approval again after a refusal or expiry.',
      message: `must be a whole number from 2 to ${UNDO_ATTEMPTS_MAX}`,
    }),
  },
  {
    additionalProperties: false,
    description:
      'The movement that this correction takes back. Replaces the id, which walletd derives from the movement and the amount.',
    message: 'must identify the movement to take back by type and id, and for a credit or reward by productId',
  },
);

export const reason = string({
  codePoints: [1, REASON_LENGTH_MAX],
  wellFormed: true,
  pattern: '\\S',
  message: `must be a string of 1 to ${REASON_LENGTH_MAX} characters`,
});

export const currency = string({
  pattern: CURRENCY.source,
  message:
    'must be a code of 3 to 10 capital letters or digits, such as THB; the first letter may be small, as in mBTC',
});

/** An amount whose range and number of decimals depend on the currency; see `mustUnits`. */
export const amount = number({
  description: 'In whole currency units, exact to the last decimal.',
  message: 'must be a number such as 1234.56, without quotes or thousands separators',
});

/**
 * A session token, which is passed to the platform when a game starts. Some products accept at most 20 characters. No
 * answer contains the token.
 */
export const sessionToken = string({
  codePoints: [1, ID_LENGTH_MAX],
  wellFormed: true,
  description:
    'At least 16 random characters; some products accept at most 20. walletd stores only a digest and never returns the token.',
  message: `must be a string of 1 to ${ID_LENGTH_MAX} characters`,
});

export const endMillis = integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Time at which the session expires, in milliseconds since 1970. Omitted: the session does not expire.',
  message: 'must be a whole number of milliseconds since 1970',
});

export const flag = boolean({ default: false, message: 'must be true or false' });

/** Whole number in a query string or path, where all values are text. */
export function wholeNumber(least: number, most: number, absent: number, description: string): Schema<number> {
  const message = `must be a whole number from ${least} to ${most}`;
  return { wholeNumber: [least, most], default: absent, description, message };
}

export function oneOf<const T extends string>(values: readonly T[], absent: T, description: string): Schema<T> {
  return choice(values, { default: absent, description, message: `must be one of ${values.join(', ')}` });
}

export const page = {
  limit: wholeNumber(1, PAGE_MAX, PAGE_DEFAULT, 'Maximum number of results.'),
};
export const before = string({ description: '`next` of the previous page.', message: 'must come once' });
export const openSince = choice(OPEN_SINCE, {
  description: 'Only transactions that were reopened by this event after they were closed.',
  message: `must be ${OPEN_SINCE.join(', ')}`,
});
