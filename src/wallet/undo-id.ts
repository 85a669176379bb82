import { ID_LENGTH_MAX } from './identifier.js';

/** Prefix of the operation ids that walletd creates. A request that chooses such an id is refused. */
export const RESERVED_ID_PREFIX = 'walletd:';

/** Most attempts to get an approval. */
export const UNDO_ATTEMPTS_MAX = 100;

/** Operations that a correction can take back. */
export const UNDOABLE_OPERATIONS = ['deposit', 'withdrawal', 'import'] as const;
/** Credits of the platform that no bet backs: from adjustBalance and from winRewards. */
export const UNDOABLE_CREDITS = ['credit', 'reward'] as const;
export const UNDOABLES = [...UNDOABLE_OPERATIONS, ...UNDOABLE_CREDITS] as const;
export type Undoable = (typeof UNDOABLES)[number];

/** The operation or credit that a correction takes back. */
export interface Undone {
  readonly type: Undoable;
  readonly id: string;
  /** Only for credits; an operation has none. */
  readonly productId?: string | undefined;
  /** From 2 on: earlier corrections were refused by another operator or not approved in time. */
  readonly attempt?: number | undefined;
}

/**
 * The id of the correction that takes this back: `walletd:undo:credit:-26:SLOTS:purse-1`. The id contains kind, amount
 * and target, so no other correction can get in its way, and its repeat moves nothing. `amount` is that of the
 * correction, in decimals. Parts are encoded, so that no two targets share an id; a digest replaces parts that are too
 * long.
 */
export function undoId(
  { type, id, productId, attempt }: Undone,
  amount: string,
  sha256: (text: string) => string,
): string {
  const target = productId === undefined ? [id] : [productId, id];
  const encoded = target.map(encodeURIComponent).join(':');
  const nth = attempt === undefined ? '' : `:${attempt}`;
  const whole = `${RESERVED_ID_PREFIX}undo:${type}:${amount}:${encoded}`;
  // All attempts have the same form.
  if (whole.length + `:${UNDO_ATTEMPTS_MAX}`.length <= ID_LENGTH_MAX) return whole + nth;
  return `${RESERVED_ID_PREFIX}undo-hash:${type}:${amount}:${sha256(encoded)}${nth}`;
}

/** The id of the first attempt, derived from the id of any attempt. */
export function firstAttemptOf(id: string): string {
  return id.startsWith(RESERVED_ID_PREFIX) ? id.replace(/:\d+$/, '') : id;
}
