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

/** Code with which an operator must refuse a message, whatever the player's state. */
export type RefusalCode = 10001 | 30002 | 40003;
export type Signature = 'right' | 'missing' | 'wrong' | 'old';

/**
 * An element as in JSON, except that amounts are in whole currency units and ids do not yet contain the player's name.
 */
export type Element = Readonly<Record<string, unknown>>;

/** A message of a history, for any player. `bodyOf` converts it to a request. */
export interface Message {
  readonly endpoint: Endpoint;
  /**
   * Identifies the request and determines its time. Messages with the same number have the same request id and time.
   */
  readonly number: number;
  /**
   * Number that determines the time, if it differs from `number`. A platform that resends a request can give it a new
   * time.
   */
  readonly timed?: number;
  /** Empty for checkBalance. */
  readonly txns: readonly Element[];
  /** Envelope fields that differ from the defaults. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** The refusal that the message must get. */
  readonly refusal?: RefusalCode;
  /** Undefined for the platform's regular signature. */
  readonly signature?: Signature;
  /** True if the message is about the second player of a history. */
  readonly isOfOther?: true;
}

/** The player with whom a history is played. */
export interface Player {
  readonly username: string;
  readonly currency: string;
  /** The balance in whole currency units. */
  readonly balance: number;
}

/** Values of an element that no operator interprets, and their default. */
export const GAME = { gameCode: 'simulation', playInfo: 'UNKNOWN' };

/** Choices of a platform for fields whose content operators do not interpret. */
export interface RequestFields {
  /** True if each element has a `txnId`, which is the same when the request is sent again. */
  readonly txnId: boolean;
  /** The token in each request, in which `{username}` is replaced. Empty if there is none. */
  readonly sessionToken: string;
  readonly gameCode: string;
  readonly playInfo: string;
}

export const DEFAULT_FIELDS: RequestFields = { txnId: false, sessionToken: '', ...GAME };

/** Fields that contain ids. Some operators do not separate ids by player, so the ids contain the player's name. */
const IDS = ['id', 'roundId', 'refId'];

/**
 * The request body for this player. `startMs` is the time of message 0. Players of one round give it the same `host`,
 * whose name its id contains.
 */
export function bodyOf(
  message: Message,
  player: Player,
  productId: string,
  startMs: number,
  fields = DEFAULT_FIELDS,
  host = player,
): string {
  const nameOf = (name: string) => `${player.username}-${name}`;
  const { username, currency } = player;
  const body: Record<string, unknown> = {
    id: nameOf(`q${message.number}`),
    timestampMillis: startMs + (message.timed ?? message.number),
    productId,
    currency,
    username,
    ...(fields.sessionToken !== '' && { sessionToken: fields.sessionToken.replaceAll('{username}', () => username) }),
    ...message.envelope,
  };
  if (message.endpoint !== 'checkBalance') {
    body.txns = message.txns.map((txn, n) => {
      const txnId = fields.txnId && { txnId: nameOf(`t${message.number}-${n}`) };
      return { ...txnId, ...withGame(mapIds(txn, nameOf, host), fields) };
    });
  }
  return JSON.stringify(body);
}

/** Keeps a value that a history has chosen itself. */
function withGame(txn: Element, { gameCode, playInfo }: RequestFields): Element {
  return {
    ...txn,
    ...(txn.gameCode === GAME.gameCode && { gameCode }),
    ...(txn.playInfo === GAME.playInfo && { playInfo }),
  };
}

function mapIds(txn: Element, nameOf: (name: string) => string, host: Player): Element {
  const named: Record<string, unknown> = { ...txn };
  for (const field of IDS) {
    const name = txn[field];
    if (typeof name !== 'string' || name === '') continue;
    named[field] = field === 'roundId' ? `${host.username}-${name}` : nameOf(name);
  }
  return named;
}
