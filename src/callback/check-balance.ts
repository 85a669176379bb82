import { object } from '../base/json-schema.js';
import { type CallbackType, ENVELOPE_EXAMPLE, envelope, sessionToken } from './callback-type.js';
import { foreign } from './fields.js';

/** The one callback without transactions. One that has some is a captured request of another endpoint, and reads no balance. */
export const checkBalance: CallbackType<'checkBalance'> = {
  summary: 'What the player has',
  example: ENVELOPE_EXAMPLE,
  answer: 'balance',
  hasSession: true,
  schema: () => object(envelope, { sessionToken, txns: foreign }),
  toCommand: ({ id, timestampMillis, productId, currency, username }) => ({
    type: 'checkBalance',
    id,
    timestampMillis,
    productId,
    currency,
    username,
  }),
};
