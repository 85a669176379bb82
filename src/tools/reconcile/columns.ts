import { ToolError } from '../store-reader.js';

/** Fields of a record in the platform's bet history. All are text until platform-record.ts parses them. */
export const FIELDS = [
  'id',
  'username',
  'productId',
  'currency',
  'roundId',
  'stake',
  'payout',
  'status',
  'time',
] as const;
export type Field = (typeof FIELDS)[number];

/**
 * The state of a bet according to the platform.
 *
 *   OPEN        stake taken, no result yet
 *   UNSETTLED   result taken back, so the bet is open again
 *   SETTLED     payout given, possibly 0
 *   VOID        settled, then voided
 *   CANCELLED   stake returned before there was a result
 */
export const PLATFORM_STATES = ['OPEN', 'UNSETTLED', 'SETTLED', 'VOID', 'CANCELLED'] as const;
export type PlatformState = (typeof PLATFORM_STATES)[number];

/** Maps the columns and words of a history to fields and their values. */
export interface Columns {
  /** Columns that can hold each field. The first one that exists is used. */
  readonly names: Readonly<Record<Field, readonly string[]>>;
  /** Constant values for fields without a column in the history. */
  readonly always: Readonly<Partial<Record<Field, string>>>;
  /** States by their names in the history, which are in capital letters. */
  readonly statuses: ReadonlyMap<string, PlatformState>;
  /** The time zone of times without a zone, for example +07:00. */
  readonly zone: string | undefined;
}

/** Column names of betTransactionsV2, the bet history of this family of platforms. */
const NAMES: Columns['names'] = {
  id: ['betId', 'id'],
  username: ['username'],
  productId: ['productId'],
  currency: ['currency'],
  roundId: ['roundId'],
  stake: ['stake'],
  payout: ['payout'],
  status: ['betStatus'],
  time: ['updatedDate'],
};

const STATUSES: Readonly<Record<string, PlatformState>> = {
  OPEN: 'OPEN',
  WAITING: 'OPEN',
  UNSETTLED: 'UNSETTLED',
  SETTLED: 'SETTLED',
  VOID: 'VOID',
  REFUND: 'CANCELLED',
  REJECT: 'CANCELLED',
  CANCEL: 'CANCELLED',
  CANCELED: 'CANCELLED',
  CANCELLED: 'CANCELLED',
};

export const DEFAULT_COLUMNS: Columns = {
  names: NAMES,
  always: {},
  statuses: new Map(Object.entries(STATUSES)),
  zone: undefined,
};

const PARTS = ['columns', 'always', 'statuses', 'zone'];

/** Parses a mapping file. Parts that it omits keep their defaults. Throws a `ToolError` that describes the mistake. */
export function parseColumns(text: string): Columns {
  const mapping = mustObject(parseJson(text), 'the mapping');
  const stranger = Object.keys(mapping).find((part) => !PARTS.includes(part));
  if (stranger !== undefined)
    throw new ToolError(`the mapping has an unknown part "${stranger}": the parts are ${PARTS.join(', ')}`);
  return {
    names: { ...NAMES, ...mapFields(mapping.columns, 'columns', namesOf) },
    always: mapFields(mapping.always, 'always', mustText),
    statuses: new Map([...DEFAULT_COLUMNS.statuses, ...statusesOf(mapping.statuses)]),
    zone: mapping.zone === undefined ? undefined : mustZone(mapping.zone),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolError(`the mapping is not JSON: ${(error as Error).message}`);
  }
}

function mapFields<T>(
  value: unknown,
  part: string,
  read: (value: unknown, what: string) => T,
): Partial<Record<Field, T>> {
  if (value === undefined) return {};
  const entries = Object.entries(mustObject(value, `"${part}" of the mapping`)).map(([field, given]) => {
    const isField = (FIELDS as readonly string[]).includes(field);
    if (!isField) throw new ToolError(`"${part}" of the mapping has "${field}": the fields are ${FIELDS.join(', ')}`);
    return [field, read(given, `"${field}" in "${part}" of the mapping`)] as const;
  });
  return Object.fromEntries(entries) as Partial<Record<Field, T>>;
}

function namesOf(value: unknown, what: string): readonly string[] {
  return Array.isArray(value) ? value.map((name) => mustText(name, what)) : [mustText(value, what)];
}

function statusesOf(value: unknown): [string, PlatformState][] {
  if (value === undefined) return [];
  const given = new Map<string, PlatformState>();
  for (const [status, means] of Object.entries(mustObject(value, '"statuses" of the mapping'))) {
    const state = PLATFORM_STATES.find((one) => one === means);
    if (state === undefined) {
      throw new ToolError(`"${status}" in "statuses" of the mapping must be one of ${PLATFORM_STATES.join(', ')}`);
    }
    const other = given.get(status.toUpperCase());
    if (other !== undefined && other !== state) {
      throw new ToolError(
        `"${status}" appears twice in "statuses" of the mapping: upper and lower case are not distinguished`,
      );
    }
    given.set(status.toUpperCase(), state);
  }
  return [...given];
}

function mustZone(value: unknown): string {
  if (typeof value === 'string' && /^(Z|[+-]\d\d:\d\d)$/.test(value)) return value;
  throw new ToolError('"zone" of the mapping must be Z, or an offset such as +07:00');
}

function mustText(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new ToolError(`${what} must be text`);
}

function mustObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ToolError(`${what} must be a JSON object`);
}
