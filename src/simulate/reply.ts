import type { Reply } from './client.js';
import type { StatedResult } from './judge.js';
import type { Message, Player } from './message.js';
import { unitsOf } from './model/callback-of.js';

const SUCCESS = ['id', 'statusCode', 'timestampMillis', 'productId', 'currency', 'username'];
const BALANCES = ['balanceBefore', 'balanceAfter'];
const FAILURE = ['id', 'statusCode', 'timestampMillis', 'productId'];
const TOO_MANY_REQUESTS = 429;
const INTERNAL_ERROR = 50001;
const NO_SUCH_PATH = [404, 405, 501];
const FORBIDDEN = 40003;
const NO_OBJECT = 'the answer is no JSON object';
const NUMBERS_AS_TEXT = 'numbers are sent as text';
const NO_CODE = 'the answer has no number as its statusCode';

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

/** A human-readable reason why a reply is not final. */
export function whyNotFinal({ status, fields, why }: Reply): string {
  if (status === undefined) return why ?? 'no answer';
  return `HTTP ${status}${fields.statusCode === undefined ? '' : `, statusCode ${fields.statusCode}`}`;
}

/** True if only the HTTP status refuses, as web frameworks do before the operator's own code reads the request. */
function isRefusalByStatus({ status = 0, fields }: Reply): boolean {
  const { statusCode } = fields;
  return status >= 400 && status < 500 && (typeof statusCode !== 'number' || statusCode === status);
}

/**
 * Reads an answer. Numbers that are sent as text count: their form is a fault of the fields, and must not hide the
 * faults of money. Balances that are no numbers are left out.
 */
export function statedIn(message: Message, reply: Reply, decimals: number): StatedResult {
  const { fields } = reply;
  if (message.refusal === 30002 && isRefusalByStatus(reply)) return { code: 30002 };
  const code = numberOf(fields.statusCode) ?? Number.NaN;
  if (code !== 0) return { code };
  const [before, after] = message.endpoint === 'checkBalance' ? ['balance', 'balance'] : BALANCES;
  const units = (field: string | undefined) => {
    const value = numberOf(fields[field as string]);
    if (value === undefined) return undefined;
    const whole = unitsOf(value, decimals);
    // A balance with floating-point noise, such as 999.7000000000001, counts as invalid.
    return whole / 10 ** decimals === value ? whole : Number.NaN;
  };
  return { code, before: units(before), after: units(after) };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' || isNumberAsText(value) ? Number(value) : undefined;
}

function isNumberAsText(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
}

/** Describes the faults in the fields of a final reply, apart from money. PLAYER stands for the player. */
export function misshapesOf(message: Message, player: Player, usualProduct: string, reply: Reply): string[] {
  const { fields } = reply;
  const code = numberOf(fields.statusCode);
  if (code === undefined) return [isObject(reply) ? NO_CODE : NO_OBJECT];
  const isSuccess = code === 0;
  const balances = message.endpoint === 'checkBalance' ? ['balance'] : BALANCES;
  const needed = isSuccess ? [...SUCCESS, ...balances] : FAILURE;
  const unwanted = isSuccess ? [] : [...SUCCESS, ...BALANCES, 'balance'].filter((one) => !FAILURE.includes(one));
  const numbers = ['statusCode', 'timestampMillis', ...(isSuccess ? balances : [])];
  return [
    ...needed.filter((field) => !(field in fields)).map((field) => `the answer has no ${field}`),
    ...unwanted.filter((field) => field in fields).map((field) => `the answer is a failure and has ${field}`),
    ...(numbers.some((field) => isNumberAsText(fields[field])) ? [NUMBERS_AS_TEXT] : []),
    ...numbers
      .filter((field) => field in fields && numberOf(fields[field]) === undefined)
      .map((field) => `${field} is no number`),
    ...wrongEchoes(message, player, usualProduct, fields),
  ];
}

function isObject({ fields, text }: Reply): boolean {
  return Object.keys(fields).length > 0 || text.trim() === '{}';
}

/** Fields of the request that the answer repeats with another value. */
function wrongEchoes(message: Message, player: Player, usualProduct: string, fields: Reply['fields']): string[] {
  const { username, currency } = player;
  const request = { productId: usualProduct, username, currency, ...message.envelope } as Record<string, unknown>;
  const echoed = numberOf(fields.statusCode) === 0 ? ['productId', 'username', 'currency'] : ['productId'];
  // Accept an empty `productId` in a refusal, because an operator cannot echo fields that it could not read, or that it
  // hides from unknown callers.
  if (message.refusal !== undefined && fields.productId === '') return [];
  const text = (value: unknown) => JSON.stringify(value)?.replaceAll(username, 'PLAYER');
  return echoed
    .filter((field) => field in fields && fields[field] !== request[field])
    .map((field) => `${field} is ${text(fields[field])}, and the request has ${text(request[field])}`);
}
