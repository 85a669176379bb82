import { object } from '../base/json-schema.js';
import { type CallbackType, ENVELOPE_EXAMPLE, envelope, sessionToken, withOptionalFields } from './callback-type.js';
import { foreign } from './fields.js';

const body = object(envelope, { sessionToken, txns: foreign });
/** Default time. The callback writes nothing and is executed on arrival, regardless of its time. */
const NO_TIME = { timestampMillis: 0 };

/**
 * The only callback without transactions. A checkBalance with transactions is a captured request for a different
 * endpoint and is refused.
 */
export const checkBalance: CallbackType<'checkBalance'> = {
  summary: 'What the player has',
  example: ENVELOPE_EXAMPLE,
  answer: 'balance',
  hasSession: true,
  standIns: NO_TIME,
  txnStandIns: {},
  schema: ({ isStrict }) => (isStrict ? body : withOptionalFields(body, NO_TIME)),
  toCommand: ({ id, productId, currency, username }) => ({
    type: 'checkBalance',
    id,
    productId,
    currency,
    username,
  }),
};
