import { type Echo, textOf } from '../../src/callback/request-codec.js';
import { ResponseCodec } from '../../src/callback/response-codec.js';
import { toDecimal } from '../../src/wallet/amount.js';
import { CALLBACKS, codecs, NOW_MS, OPENING_BALANCE, placeBodies, scales } from './callbacks.js';
import { type Group, keep } from './group.js';

const codec = new ResponseCodec(scales, 'own');
const echoes: Echo[] = placeBodies.map((bytes) => codecs.placeBets.read(textOf(bytes)));
const BEFORE = OPENING_BALANCE;
const AFTER = OPENING_BALANCE - 105_000;

export const responding: Group = {
  name: 'write a success answer',
  operations: CALLBACKS,
  cases: [
    {
      name: 'ResponseCodec: fast-json-stringify',
      run: () => {
        for (const echo of echoes) keep(codec.success(echo, BEFORE, AFTER, NOW_MS));
      },
    },
  ],
  alternative: {
    name: 'JSON.stringify',
    run: () => {
      for (const echo of echoes) keep(plainSuccess(echo));
    },
  },
};

function plainSuccess({ id, productId, currency, username }: Echo): string {
  const scale = scales.of(currency);
  return JSON.stringify({
    id,
    statusCode: 0,
    timestampMillis: NOW_MS,
    productId,
    currency,
    balanceBefore: toDecimal(BEFORE, scale),
    balanceAfter: toDecimal(AFTER, scale),
    username,
  });
}
