import { VICTIMS } from './callbacks.js';
import type { Random } from './random.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
const STRUCTURE = '{}[],:';
const MUTATIONS_MAX = 3;

const NUMBERS = [
  ...['-0', '0', '-1', '0.1', '1.00000', '1e2', '1E+2', '100e-2', '0.0001', '0.00001', '0.30000000000000004'],
  ...['1e999', '-1e999', '1e-999', '5e-324', '1.7976931348623157e308', '9007199254740991', '9007199254740993'],
  ...['123456789.1234', '1000000', '1000000.0001', '10000000000', '10000000000.0001', '9'.repeat(400)],
  // Texts that are not valid JSON numbers.
  ...['01', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity', '-', '1e', '1_000'],
];

const TEXTS = [
  ...['', ' ', '\u0000', '\u202e', '\ufeff', 'a/../b', '%2e%2e', "'; --", '🎲', 'é', 'e\u0301', '__proto__'],
  ...['constructor', 'toString', 'OPEN', 'WAITING', 'SETTLED', 'VOID', 'REFUND', 'REJECT', 'BY_ROUND', 'THB', 'nobody'],
  ...['x'.repeat(256), 'x'.repeat(257), '🎲'.repeat(256), '🎲'.repeat(257), 'é'.repeat(1024), 'y'.repeat(1025)],
  ...VICTIMS,
].map((text) => JSON.stringify(text));

const VALUES = [
  ...['null', 'true', 'false', '{}', '[]', '[null]', '{"":0}', '[[]]', '{"__proto__":{"id":"x"}}'],
  ...['"\\ud800"', '"\\udc00\\ud800"', '"\\u0041"', '"\\ud83c\\udfb2"', '"\\x"', '"a\nb"', '"', '"\\u00'],
];

const KEYS = ['id', 'txns', 'username', 'status', 'betAmount', '__proto__', 'constructor', 'sessionToken', ''];

type Mutation = (random: Random, tokens: string[]) => void;

const MUTATIONS: readonly Mutation[] = [
  (random, tokens) => tokens.splice(anywhere(random, tokens), 1),
  (random, tokens) => {
    const at = anywhere(random, tokens);
    tokens.splice(at, 0, tokens[at] ?? '');
  },
  (random, tokens) => {
    const [a, b] = [anywhere(random, tokens), anywhere(random, tokens)];
    [tokens[a], tokens[b]] = [tokens[b] ?? '', tokens[a] ?? ''];
  },
  replaceValue,
  replaceValue,
  replaceValue,
  (random, tokens) => {
    const key = position(random, tokens, (token, n) => token.startsWith('"') && tokens[n + 1] === ':');
    if (key !== undefined) tokens[key] = JSON.stringify(random.pick(KEYS));
  },
  // Adds a member next to or before one of the same name.
  (random, tokens) => {
    const open = position(random, tokens, (token) => token === '{');
    if (open !== undefined) tokens.splice(open + 1, 0, `${JSON.stringify(random.pick(KEYS))}:${strange(random)},`);
  },
  (random, tokens) => {
    const value = position(random, tokens, isValue(tokens));
    const depth = random.pick([1, 2, 100, 900]);
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    if (value !== undefined) tokens[value] = open.repeat(depth) + tokens[value] + close.repeat(depth);
  },
  // Repeats a transaction many times.
  (random, tokens) => {
    const txn = tokens.join('').match(/\[(\{[^{}]*\})/)?.[1];
    const open = tokens.indexOf('[');
    if (txn !== undefined && open !== -1)
      tokens.splice(open + 1, 0, `${txn},`.repeat(random.pick([1, 4, 5, 199, 200])));
  },
];

/** JSON with a small change, or nearly valid JSON. */
export function mutateJson(random: Random, text: string): string {
  const tokens = text.match(TOKEN) ?? [];
  for (let n = random.between(1, MUTATIONS_MAX); n > 0 && tokens.length > 0; n--) {
    random.pick(MUTATIONS)(random, tokens);
  }
  return tokens.join('');
}

function replaceValue(random: Random, tokens: string[]): void {
  const value = position(random, tokens, isValue(tokens));
  if (value !== undefined) tokens[value] = strange(random);
}

function strange(random: Random): string {
  return random.pick(random.pick([NUMBERS, TEXTS, VALUES]));
}

function isValue(tokens: readonly string[]): (token: string, n: number) => boolean {
  return (token, n) => !STRUCTURE.includes(token) && tokens[n + 1] !== ':';
}

function anywhere(random: Random, tokens: readonly string[]): number {
  return random.between(0, tokens.length - 1);
}

/** Random position that satisfies `isWanted`; undefined if there is none. */
function position(
  random: Random,
  tokens: readonly string[],
  isWanted: (token: string, n: number) => boolean,
): number | undefined {
  const places = tokens.flatMap((token, n) => (isWanted(token, n) ? [n] : []));
  return places.length === 0 ? undefined : random.pick(places);
}
