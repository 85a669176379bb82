import { createHash } from 'node:crypto';
import type { Units } from '../../wallet/amount.js';
import type { ChangingEndpoint } from '../../wallet/command.js';
import { ID_LENGTH_MAX } from '../../wallet/identifier.js';
import { firstAttemptOf, type Undoable, type Undone, undoId } from '../../wallet/undo-id.js';
import { type HistoryItem, typeInLog } from './history-item.js';

interface Movement {
  readonly type: Undoable;
  /** 1: the player got the amount; -1: the amount was taken. */
  readonly sign: 1 | -1;
  /** Only for credits. */
  readonly endpoint?: ChangingEndpoint;
}

/** Movements that can be taken back, by their type in the log. */
const MOVEMENTS: Readonly<Record<string, Movement>> = {
  deposited: { type: 'deposit', sign: 1 },
  'player-imported': { type: 'import', sign: 1 },
  withdrawn: { type: 'withdrawal', sign: -1 },
  'balance-credited': { type: 'credit', sign: 1, endpoint: 'adjustBalance' },
  'reward-credited': { type: 'reward', sign: 1, endpoint: 'winRewards' },
};

/** Endpoints whose credits can be taken back: these credits have no bet, and no other message takes them back. */
export const UNDOABLE_ENDPOINTS: readonly string[] = Object.values(MOVEMENTS).flatMap(({ endpoint = [] }) => endpoint);

/** Why nothing is left to undo: a correction or the platform took the movement back. */
export type DoneBefore = 'done before' | 'voided before';

/** A correction that takes an operation or a credit back. */
export interface Undo extends Undone {
  readonly username: string;
  readonly timeMs: number | undefined;
  readonly endpoint: ChangingEndpoint | undefined;
  /** Id of the correction. */
  readonly undoId: string;
  readonly amount: Units;
  /** For the log; the same each time, as a repeat requires. */
  readonly reason: string;
  readonly doneBefore: DoneBefore | undefined;
}

export interface UndoSelection {
  /** An operator by name, or the platform. */
  readonly by: { readonly operator: string } | 'platform';
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Restricts the undo to operations of this type; undefined: all that can be taken back. */
  readonly type?: Undoable | undefined;
  readonly productId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly ids?: ReadonlySet<string> | undefined;
}

/**
 * One correction for each wanted movement, in their order. `items` holds the actions of all operators, or all of the
 * platform's credits.
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
  // Items from a snapshot have their times, too.
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
 * Id that a walletd from before ids were reserved gave to an undo. Any correction could have that id, so reason and
 * amount decide.
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
