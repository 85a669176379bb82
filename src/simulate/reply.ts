import type { Reply } from './client.js';
import type { Told } from './judge.js';
import type { Message, Player } from './message.js';
import { unitsOf } from './model/callback-of.js';

const SUCCESS = ['id', 'statusCode', 'timestampMillis', 'productId', 'currency', 'username'];
const BALANCES = ['balanceBefore', 'balanceAfter'];
const FAILURE = ['id', 'statusCode', 'timestampMillis', 'productId'];
const TOO_MANY_REQUESTS = 429;
const INTERNAL_ERROR = 50001;
const NO_SUCH_PATH = [404, 405, 501];
const FORBIDDEN = 40003;

/** False if the outcome is unknown, so that the request must be sent again. */
export function isFinal({ status, fields }: Reply): boolean {
  if (status === undefined || status === TOO_MANY_REQUESTS) return false;
  return (status < 500 || status === 501) && fields.statusCode !== INTERNAL_ERROR;
}

/**
 * True if the endpoint is missing. An operator may refuse with any HTTP status, but its answer then has a reason. The
 * error answer of a web framework only repeats the status.
 */
export function isNotServed({ status, fields }: Reply): boolean {
  const { statusCode } = fields;
  const saysWhy = typeof statusCode === 'number' && statusCode !== FORBIDDEN && statusCode !== status;
  return NO_SUCH_PATH.includes(status ?? 0) && !saysWhy;
}

/** Human-readable reason why a reply is not final. */
export function whyNotFinal({ status, fields, why }: Reply): string {
  if (status === undefined) return why ?? 'no answer';
  return `HTTP ${status}${fields.statusCode === undefined ? '' : `, statusCode ${fields.statusCode}`}`;
}

export function toldOf({ endpoint }: Message, { fields }: Reply, decimals: number): Told {
  const code = typeof fields.statusCode === 'number' ? fields.statusCode : Number.NaN;
  if (code !== 0) return { code };
  const [before, after] = endpoint === 'checkBalance' ? ['balance', 'balance'] : BALANCES;
  const units = (field: string | undefined) => {
    const value = fields[field as string];
    if (typeof value !== 'number') return Number.NaN;
    const whole = unitsOf(value, decimals);
    // A balance with floating-point noise, such as 999.7000000000001, counts as invalid.
    return whole / 10 ** decimals === value ? whole : Number.NaN;
  };
  return { code, before: units(before), after: units(after) };
}

/** Describes a fault in the fields of a final reply, apart from money; undefined if there is none. */
export function findMisshape(message: Message, player: Player, usualProduct: string, reply: Reply): string | undefined {
  const { fields } = reply;
  if (typeof fields.statusCode !== 'number') return 'the answer has no number as its statusCode';
  const isSuccess = fields.statusCode === 0;
  const balances = message.endpoint === 'checkBalance' ? ['balance'] : BALANCES;
  const needed = isSuccess ? [...SUCCESS, ...balances] : FAILURE;
  const missing = needed.filter((field) => !(field in fields));
  if (missing.length > 0) return `the answer has no ${missing.join(', no ')}`;
  const extra = isSuccess ? [] : [...SUCCESS, ...BALANCES, 'balance'].filter((one) => !FAILURE.includes(one));
  const unwanted = extra.filter((field) => field in fields);
  if (unwanted.length > 0) return `the answer is a failure and has ${unwanted.join(', ')}`;
  if (typeof fields.timestampMillis !== 'number') return 'timestampMillis is no number';
  const { productId } = { productId: usualProduct, ...message.envelope };
  const echoed = isSuccess ? { productId, username: player.username, currency: player.currency } : { productId };
  const wrong = Object.entries(echoed).find(([field, value]) => fields[field] !== value);
  // Accept an empty `productId` in a refusal, because an operator cannot echo fields that it could not read, or that it
  // hides from unknown callers.
  if (wrong === undefined || (message.refusal !== undefined && fields.productId === '')) return undefined;
  return `${wrong[0]} is ${JSON.stringify(fields[wrong[0]])}, and the request has ${JSON.stringify(wrong[1])}`;
}
