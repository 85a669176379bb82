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
 * ID of 1 to 256 characters. Lone surrogates are refused: they have no UTF-8 encoding, so two IDs that differ only in
 * lone surrogates would be equal in the log.
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
      description: 'Asks again for an approval that was refused or has expired.',
      message: `must be a whole number from 2 to ${UNDO_ATTEMPTS_MAX}`,
    }),
  },
  {
    additionalProperties: false,
    description: 'What a correction takes back, in the place of an id: the id is made of it and of the amount.',
    message: 'must say what is taken back: its type and id, and of a credit or reward the productId',
  },
);

export const reason = string({
  codePoints: [1, REASON_LENGTH_MAX],
  wellFormed: true,
  pattern: '\\S',
  message: `must be a text of 1 to ${REASON_LENGTH_MAX} characters`,
});

export const currency = string({
  pattern: CURRENCY.source,
  message:
    'must be a code of 3 to 10 capital letters or digits, such as THB; the first letter may be small, as in mBTC',
});

/** Amount whose range and number of decimals depend on the currency; see `mustUnits`. */
export const amount = number({
  description: 'In whole currency, exact to its last decimal.',
  message: 'must be a number, such as 1234.56: without quotes, and with nothing between thousands',
});

/**
 * Session token, which is passed to the platform when a game starts. Some products accept at most 20 characters. No
 * answer contains the token.
 */
export const sessionToken = string({
  codePoints: [1, ID_LENGTH_MAX],
  wellFormed: true,
  description: 'At least 16 random characters; some products take at most 20. It is kept as a digest, and never told.',
  message: `must be a string of 1 to ${ID_LENGTH_MAX} characters`,
});

export const endMillis = integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'When the session ends by itself: milliseconds since 1970. Left out: never.',
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
  limit: wholeNumber(1, PAGE_MAX, PAGE_DEFAULT, 'How many at the most.'),
};
export const before = string({ description: '`next` of the page before.', message: 'must come once' });
export const openSince = choice(OPEN_SINCE, {
  description: 'Only what was closed, and is open once more since this came.',
  message: `must be ${OPEN_SINCE.join(', ')}`,
});
