import { ID_LENGTH_MAX } from './identifier.js';

/** The prefix of operation ids created by walletd. Requests that use such an id are refused. */
export const RESERVED_ID_PREFIX = 'walletd:';

/** Maximum number of attempts to get a correction approved. */
export const UNDO_ATTEMPTS_MAX = 100;

/** Operations by hand that a correction can reverse. */
export const UNDOABLE_OPERATIONS = ['deposit', 'withdrawal', 'import'] as const;
/** Platform credits without a bet: adjustBalance credits and rewards. */
export const UNDOABLE_CREDITS = ['credit', 'reward'] as const;
export const UNDOABLES = [...UNDOABLE_OPERATIONS, ...UNDOABLE_CREDITS] as const;
export type Undoable = (typeof UNDOABLES)[number];

/** The operation or credit that a correction reverses. */
export interface Undone {
  readonly type: Undoable;
  readonly id: string;
  /** The credit's product; undefined for an operation, which has no product. */
  readonly productId?: string | undefined;
  /**
   * Number of this attempt, from 2; undefined for the first. A further attempt is needed if a second operator refused
   * the earlier corrections or did not approve them in time.
   */
  readonly attempt?: number | undefined;
}

/**
 * The id of the correction that reverses this item, for example `walletd:undo:credit:-26:SLOTS:purse-1`. The id
 * contains the kind, the amount and the target, so it cannot collide with that of a different correction, and a repeat
 * moves nothing. `amount` is the correction's amount in decimals. Parts are encoded, so that different targets have
 * different ids; if the parts are too long, their digest replaces them.
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
  // Reserve space for the longest attempt number, so that the ids of all attempts are abbreviated in the same way.
  if (whole.length + `:${UNDO_ATTEMPTS_MAX}`.length <= ID_LENGTH_MAX) return whole + nth;
  return `${RESERVED_ID_PREFIX}undo-hash:${type}:${amount}:${sha256(encoded)}${nth}`;
}

/** The id of the first attempt, derived from the id of any attempt. */
export function firstAttemptOf(id: string): string {
  return id.startsWith(RESERVED_ID_PREFIX) ? id.replace(/:\d+$/, '') : id;
}
