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

/** An element as in JSON; amounts in whole currency, and ids that are not yet those of a player. */
export type Element = Readonly<Record<string, unknown>>;

/** What a history is made of, for any player: `bodyOf` makes a request of it. */
export interface Message {
  readonly endpoint: Endpoint;
  /** Names the request, and tells when the platform made it: what has the same one bears the same request id and time. */
  readonly number: number;
  /** The time, where it is not that of the number: a platform that sends a request once more can give it a new one. */
  readonly timed?: number;
  /** checkBalance has none. */
  readonly txns: readonly Element[];
  /** Fields of the envelope that are not as usual. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** It must be refused so. */
  readonly refusal?: Refusal;
  /** Not as the platform signs. */
  readonly signature?: Signature;
}

/** Whom a history is played with. */
export interface Player {
  readonly username: string;
  readonly currency: string;
  /** In whole currency. */
  readonly balance: number;
}

/** Fields that name something. Some operators know no players beside them, so they are made of the player's name. */
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
