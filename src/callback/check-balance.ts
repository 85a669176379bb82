import { object } from '../base/json-schema.js';
import { type CallbackType, ENVELOPE_EXAMPLE, envelope, sessionToken, withOptionalFields } from './callback-type.js';
import { foreign } from './fields.js';

const body = object(envelope, { sessionToken, txns: foreign });
/**
 * The default of the time. Its value does not matter, because the callback writes nothing and is executed on arrival.
 */
const NO_TIME = { timestampMillis: 0 };

/**
 * This is the only callback without transactions. A checkBalance with transactions is a captured request for a
 * different endpoint, so it is refused.
 */
export const checkBalance: CallbackType<'checkBalance'> = {
  summary: "Returns the player's balance",
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
