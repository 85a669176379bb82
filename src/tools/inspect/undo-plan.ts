import { createHash } from 'node:crypto';
import type { Units } from '../../wallet/amount.js';
import type { ChangingEndpoint } from '../../wallet/command.js';
import { ID_LENGTH_MAX } from '../../wallet/identifier.js';
import { firstAttemptOf, type Undoable, type Undone, undoId } from '../../wallet/undo-id.js';
import { type HistoryItem, typeInLog } from './history-item.js';

interface Movement {
  readonly type: Undoable;
  /** 1 if the player received the amount; -1 if the amount was taken from the player. */
  readonly sign: 1 | -1;
  /** Set only for credits. */
  readonly endpoint?: ChangingEndpoint;
}

/** Movements that can be reversed, by their type in the log. */
const MOVEMENTS: Readonly<Record<string, Movement>> = {
  deposited: { type: 'deposit', sign: 1 },
  'player-imported': { type: 'import', sign: 1 },
  withdrawn: { type: 'withdrawal', sign: -1 },
  'balance-credited': { type: 'credit', sign: 1, endpoint: 'adjustBalance' },
  'reward-credited': { type: 'reward', sign: 1, endpoint: 'winRewards' },
};

/** Endpoints whose credits can be reversed. These credits have no bet, and no other message reverses them. */
export const UNDOABLE_ENDPOINTS: readonly string[] = Object.values(MOVEMENTS).flatMap(({ endpoint = [] }) => endpoint);

/** The reason why there is nothing left to undo: a correction or the platform has already reversed the movement. */
export type DoneBefore = 'done before' | 'voided before';

/** A correction that reverses an operation or a credit. */
export interface Undo extends Undone {
  readonly username: string;
  readonly timeMs: number | undefined;
  readonly endpoint: ChangingEndpoint | undefined;
  /** The id of the correction itself. */
  readonly undoId: string;
  readonly amount: Units;
  /**
   * The reason that is logged with the correction. It is the same in every run, because a repeated correction must not
   * differ from the first.
   */
  readonly reason: string;
  readonly doneBefore: DoneBefore | undefined;
}

export interface UndoSelection {
  /** The operator with this name, or the platform. */
  readonly by: { readonly operator: string } | 'platform';
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Restricts the undo to operations of this type; undefined selects everything that can be reversed. */
  readonly type?: Undoable | undefined;
  readonly productId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly ids?: ReadonlySet<string> | undefined;
}

/**
 * Plans one correction for each selected movement, in the same order. `items` contains the actions of all operators, or
 * all credits of the platform.
 */
export function undoPlan(
  items: readonly HistoryItem[],
  wish: UndoSelection,
  decimalOf: (username: string, amount: Units) => string,
): Undo[] {
  const corrections = new Map<string, HistoryItem>();
  const voided = new Set<string>();
  for (const one of items) {
    const type = typeInLog(one);
    if (type === 'corrected') {
      corrections.set(keyOf(one), one);
      corrections.set(keyOf({ username: one.username, id: firstAttemptOf(one.id ?? '') }), one);
    } else if (type === 'reward-voided') voided.add(keyOf(one));
  }
  const plan: Undo[] = [];
  for (const one of items) {
    const movement = MOVEMENTS[typeInLog(one)];
    const { username, id, amount: moved, timeMs, productId } = one;
    if (movement === undefined || id === undefined || moved === undefined || moved === 0) continue;
    if (!isSelected(one, movement, wish)) continue;
    const { type, endpoint } = movement;
    const amount = (-movement.sign * moved) as Units;
    const made = undoId({ type, id, productId }, decimalOf(username, amount), sha256);
    const reason = reasonOf(type, one, wish);
    const isSame = (known: HistoryItem | undefined) => known?.amount === amount;
    const byAnOlder = corrections.get(keyOf({ username, id: olderIdOf(id) }));
    const isUndone =
      isSame(corrections.get(keyOf({ username, id: made }))) || (isSame(byAnOlder) && byAnOlder?.reason === reason);
    const isVoided = type === 'reward' && voided.has(keyOf(one));
    const doneBefore = isUndone ? 'done before' : isVoided ? 'voided before' : undefined;
    plan.push({ username, type, id, productId, timeMs, endpoint, undoId: made, amount, reason, doneBefore });
  }
  return plan;
}

function isSelected({ id, by, timeMs, productId }: HistoryItem, movement: Movement, wish: UndoSelection): boolean {
  if (wish.by === 'platform' ? movement.endpoint === undefined : by?.name !== wish.by.operator) return false;
  // The items of these movements always have times, even if they come from a snapshot.
  if (timeMs === undefined || timeMs < wish.sinceMs || timeMs > wish.untilMs) return false;
  if (wish.type !== undefined && movement.type !== wish.type) return false;
  if (wish.productId !== undefined && productId !== wish.productId) return false;
  if (wish.endpoint !== undefined && movement.endpoint !== wish.endpoint) return false;
  return wish.ids === undefined || wish.ids.has(id as string);
}

const REASON_MAX = 400;

function reasonOf(type: Undoable, { id, productId }: HistoryItem, { by }: UndoSelection): string {
  const who = by === 'platform' ? productId : by.operator;
  return `undo of ${type} ${id} by ${who}`.slice(0, REASON_MAX).toWellFormed();
}

/**
 * The id of an undo in releases of walletd that did not yet reserve ids. Any correction could have such an id, so the
 * reason and the amount decide whether it is this undo.
 */
function olderIdOf(id: string): string {
  const made = `undo-${id}`;
  return [...made].length <= ID_LENGTH_MAX ? made : `undo-${sha256(id)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function keyOf({ username, productId, id }: Partial<Pick<HistoryItem, 'username' | 'productId' | 'id'>>): string {
  return JSON.stringify([username, productId, id]);
}
