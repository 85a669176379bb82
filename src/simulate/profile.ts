import { ToolError } from '../tools/store-reader.js';
import { DEFAULT_FIELDS, type Element, ENDPOINTS, type Endpoint, type Message, type RequestFields } from './message.js';
import type { ReferenceRules } from './model/callback.js';
import { unitsOf } from './model/callback-of.js';
import { PLATFORM_NAMES, type PlatformName } from './platform-name.js';

/*
 * Choices that the specification leaves to the operator. The first value of each list is the default, which is also
 * walletd's. A choice has the name of walletd's setting, if there is one.
 */
export const CHOICES = {
  /** A repeat gets the first answer again, or 20002. */
  duplicates: ['replay', 'reject'],
  /** A message about a closed bet gets 20003 or 20004, or always 20002. */
  'statusCodes.closed': ['own', 'duplicate'],
  /** A refusal has the code of its reason, or any code except 0. */
  codes: ['exact', 'any'],
  'round.ended': ['refuse-payouts', 'ignore', 'refuse-all'],
  'void.amounts': ['recorded', 'request'],
  'void.allowNegativeBalance': [true, false],
  'rollback.allowNegativeBalance': [true, false],
  'rollback.stale': ['request', 'time', 'off'],
  'tips.unknown': ['reject', 'credit'],
  /**
   * Whether a single-state settle that the cancel of its round has overtaken is refused (`decisions.version` 2) or
   * taken (1).
   */
  lateSingleState: ['refuse', 'take'],
  /**
   * If no stake was taken and the confirmation names a different one, the new stake is taken (`decisions.version` 2),
   * or the message gets 20002 (1).
   */
  otherStake: ['take', 'refuse'],
  /** A request with several elements applies as a whole, or requests always have one element. */
  arrays: ['atomic', 'one'],
  /** `skipBalanceUpdate` is supported, or the platform never sends it. */
  skip: [true, false],
  /** Settles of a round without an earlier bet are supported, or the platform never sends them. */
  singleState: [true, false],
  /** Any bet may be 0, or a bet of 0 requires `isFeature` and is never sent without it. */
  'callbacks.strict': [false, true],
  /** `BY_ROUND` is supported, or the platform never sends it. */
  byRound: [true, false],
  /** Bets that wait for a confirmation are supported, or the platform never sends them. */
  waiting: [true, false],
} as const;
export type Choices = { readonly [K in keyof typeof CHOICES]: (typeof CHOICES)[K][number] };

export interface Profile extends Choices, RequestFields {
  /** A platform that sends the requests. */
  readonly platform: PlatformName;
  /** Endpoints that the operator serves. No others are called. */
  readonly endpoints: readonly Endpoint[];
  /** Paths of endpoints that are not served under their own name, such as `{"placeTips": "/payTips"}`. */
  readonly paths: Readonly<Partial<Record<Endpoint, string>>>;
  readonly productId: string;
  readonly currency: string;
  /** Maximum number of decimals in an amount, and the precision at which balances are compared. */
  readonly decimals: number;
}

export const DECIMALS_MAX = 4;

export const DEFAULT_PROFILE: Profile = {
  ...(Object.fromEntries(Object.entries(CHOICES).map(([name, [first]]) => [name, first])) as unknown as Choices),
  platform: 'callbacks',
  endpoints: ENDPOINTS,
  paths: {},
  productId: 'SIMULATION',
  currency: 'THB',
  decimals: 2,
  ...DEFAULT_FIELDS,
};

/**
 * Parses a profile, which is a JSON object. Missing fields keep their defaults. Throws a `ToolError` that describes the
 * mistake.
 */
export function parseProfile(text: string): Profile {
  const given = mustObject(parseJson(text), 'it');
  for (const name of Object.keys(given)) {
    if (!(name in DEFAULT_PROFILE)) {
      throw new ToolError(`it has "${name}": it can have ${Object.keys(DEFAULT_PROFILE).join(', ')}`);
    }
  }
  for (const [name, values] of Object.entries(CHOICES)) {
    if (name in given) mustBeOneOf(given[name], values, name);
  }
  const { endpoints, paths = {}, productId, currency, decimals, txnId, sessionToken, gameCode, playInfo } = given;
  if (endpoints !== undefined) mustList(endpoints);
  mustPaths(paths);
  for (const [name, value] of Object.entries({ productId, currency, sessionToken, gameCode, playInfo })) {
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new ToolError(`"${name}" must be text`);
  }
  if (given.platform !== undefined) mustBeOneOf(given.platform, PLATFORM_NAMES, 'platform');
  if (txnId !== undefined) mustBeOneOf(txnId, [false, true], 'txnId');
  if (decimals !== undefined && !isWhole(decimals, DECIMALS_MAX)) {
    throw new ToolError(`"decimals" must be a whole number from 0 to ${DECIMALS_MAX}`);
  }
  return { ...DEFAULT_PROFILE, ...given } as Profile;
}

/** Rules for the reference wallet. Their limits are too high for any history to reach. */
export function rulesOf(profile: Profile): ReferenceRules {
  const none = Number.MAX_SAFE_INTEGER;
  return {
    duplicates: profile.duplicates,
    roundEnded: profile['round.ended'],
    voidAmounts: profile['void.amounts'],
    voidAllowNegativeBalance: profile['void.allowNegativeBalance'],
    rollbackAllowNegativeBalance: profile['rollback.allowNegativeBalance'],
    rollbackStale: profile['rollback.stale'],
    tipsUnknown: profile['tips.unknown'],
    confirmsOtherStake: profile.otherStake === 'take',
    cancelStopsSingleState: profile.lateSingleState === 'refuse',
    ...{ tipsUnknownMax: none, tombstonesMax: none, openBetsMax: none, historyMax: none },
    ...{ sessionToken: 'ignore', productsUnlisted: 'accept', products: new Map() },
  };
}

/**
 * Finds a feature that these messages require but this operator's platform does not use; undefined if there is none.
 */
export function findMissing(
  { endpoints, arrays, skip, singleState, byRound, waiting, decimals, 'callbacks.strict': isStrict }: Profile,
  messages: readonly Message[],
): string | undefined {
  const missing = messages.filter(({ endpoint }) => !endpoints.includes(endpoint));
  if (missing.length > 0) return [...new Set(missing.map(({ endpoint }) => endpoint))].join(', ');
  const has = (field: string, value: unknown) => messages.some(({ txns }) => txns.some((txn) => txn[field] === value));
  if (arrays === 'one' && messages.some(({ txns }) => txns.length > 1)) return 'arrays';
  if (!skip && has('skipBalanceUpdate', true)) return 'skipBalanceUpdate';
  if (!singleState && has('isSingleState', true)) return 'isSingleState';
  if (!byRound && has('transactionType', 'BY_ROUND')) return 'BY_ROUND';
  if (!waiting && has('status', 'WAITING')) return 'WAITING';
  const isFree = ({ endpoint, txns }: Message) =>
    endpoint === 'placeBets' && txns.some(({ betAmount, isFeature }) => betAmount === 0 && isFeature !== true);
  if (isStrict && messages.some(isFree)) return 'bets of 0';
  const isFiner = (amount: unknown) => amount !== undefined && Number.isNaN(unitsOf(Number(amount), decimals));
  const hasFiner = ({ betAmount, payoutAmount, amount }: Element) =>
    isFiner(betAmount) || isFiner(payoutAmount) || isFiner(amount);
  if (messages.some(({ refusal, txns }) => refusal === undefined && txns.some(hasFiner))) return 'more decimals';
  return undefined;
}

export function pathOf(profile: Profile, endpoint: Endpoint): string {
  return profile.paths[endpoint] ?? `/${endpoint}`;
}

function mustList(endpoints: unknown): void {
  if (!Array.isArray(endpoints) || endpoints.length === 0)
    throw new ToolError('"endpoints" must be a list of endpoints');
  for (const endpoint of endpoints) mustBeOneOf(endpoint, ENDPOINTS, 'endpoints');
}

function mustPaths(paths: unknown): void {
  for (const [endpoint, path] of Object.entries(mustObject(paths, '"paths"'))) {
    mustBeOneOf(endpoint, ENDPOINTS, 'paths');
    const isPath = typeof path === 'string' && path.startsWith('/');
    if (!isPath) throw new ToolError(`"paths" must have for ${endpoint} a path that begins with /`);
  }
}

function mustBeOneOf(value: unknown, values: readonly unknown[], name: string): void {
  if (values.includes(value)) return;
  throw new ToolError(`"${name}" has ${JSON.stringify(value)}: it can be ${values.map((one) => `${one}`).join(', ')}`);
}

function isWhole(value: unknown, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
}

function mustObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ToolError(`${what} must be a JSON object`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolError(`it is not JSON: ${(error as Error).message}`);
  }
}
