export const ENDPOINTS = [
  'checkBalance',
  'placeBets',
  'settleBets',
  'adjustBets',
  'voidSettled',
  'cancelBets',
  'cancelTips',
  'placeTips',
  'winRewards',
  'adjustBalance',
  'rollback',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Why an operator has to refuse a message, whatever the player's state. */
export type Refusal = 10001 | 30002 | 40003;
export type Signature = 'right' | 'missing' | 'wrong' | 'old';

/** An element as in JSON. Amounts are in whole currency, and ids do not yet contain the player's name. */
export type Element = Readonly<Record<string, unknown>>;

/** A message of a history, for any player; `bodyOf` makes a request from it. */
export interface Message {
  readonly endpoint: Endpoint;
  /**
   * Identifies the request, and determines its time: messages with the same number have the same request id and time.
   */
  readonly number: number;
  /**
   * The number that determines the time, when it differs from `number`: a platform that sends a request again can give
   * it a new time.
   */
  readonly timed?: number;
  /** Empty for checkBalance. */
  readonly txns: readonly Element[];
  /** Envelope fields that differ from the defaults. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** The required refusal. */
  readonly refusal?: Refusal;
  /** A signature other than the platform's. */
  readonly signature?: Signature;
}

/** The player of a history. */
export interface Player {
  readonly username: string;
  readonly currency: string;
  /** In whole currency. */
  readonly balance: number;
}

/** Fields with names. Some operators keep no separate ids per player, so the ids contain the player's name. */
const IDS = ['id', 'roundId', 'refId'];

/** The body of the request for this player; `startMs` is the time of message 0. */
export function bodyOf(message: Message, player: Player, productId: string, startMs: number): string {
  const nameOf = (name: string) => `${player.username}-${name}`;
  const { username, currency } = player;
  const body: Record<string, unknown> = {
    id: nameOf(`q${message.number}`),
    timestampMillis: startMs + (message.timed ?? message.number),
    productId,
    currency,
    username,
    ...message.envelope,
  };
  if (message.endpoint !== 'checkBalance') body.txns = message.txns.map((txn) => mapIds(txn, nameOf));
  return JSON.stringify(body);
}

function mapIds(txn: Element, nameOf: (name: string) => string): Element {
  const named: Record<string, unknown> = { ...txn };
  for (const field of IDS) {
    const name = txn[field];
    if (typeof name === 'string' && name !== '') named[field] = nameOf(name);
  }
  return named;
}
