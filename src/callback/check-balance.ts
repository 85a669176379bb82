import { object } from '../base/json-schema.js';
import { type CallbackType, ENVELOPE_EXAMPLE, envelope, sessionToken } from './callback-type.js';

/** The one callback without transactions, which it is answered without as well; a `txns` that comes along is not looked at. */
export const checkBalance: CallbackType<'checkBalance'> = {
  summary: 'What the player has',
  example: ENVELOPE_EXAMPLE,
  answer: 'balance',
  hasSession: true,
  schema: () => object(envelope, { sessionToken }),
  toCommand: ({ id, timestampMillis, productId, currency, username }) => ({
    type: 'checkBalance',
    id,
    timestampMillis,
    productId,
    currency,
    username,
  }),
};
