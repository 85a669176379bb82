import { createHash } from 'node:crypto';
import type { Units } from '../../wallet/amount.js';
import { ID_LENGTH_MAX } from '../../wallet/identifier.js';
import { type HistoryItem, typeInLog } from './history-item.js';

/** What can be taken back: how much it gave to a player. */
const MOVED: Readonly<Record<string, (amount: Units) => Units>> = {
  deposited: (amount) => amount,
  'player-imported': (amount) => amount,
  withdrawn: (amount) => -amount as Units,
};

/** For the option, by the name of an operation. */
export const UNDOABLE = { deposit: 'deposited', withdrawal: 'withdrawn', import: 'player-imported' } as const;
export type Undoable = keyof typeof UNDOABLE;

/** A correction that takes an operation back. */
export interface Undo {
  readonly username: string;
  readonly type: Undoable;
  /** The operation's. */
  readonly id: string;
  readonly timeMs: number | undefined;
  /** Of the correction: made of the operation's, so that a repeat changes nothing. */
  readonly undoId: string;
  readonly amount: Units;
  /** It has been written already. */
  readonly isDone: boolean;
}

export interface UndoWish {
  /** The operator's name. */
  readonly operator: string;
  readonly untilMs: number;
  /** Undefined: all that can be. */
  readonly type: Undoable | undefined;
}

/** One correction for each operation of an operator, in their order. `items` are those of all operators. */
export function undoPlan(items: readonly HistoryItem[], { operator, untilMs, type: only }: UndoWish): Undo[] {
  const corrected = new Set(items.filter((one) => typeInLog(one) === 'corrected').map(keyOf));
  const plan: Undo[] = [];
  for (const one of items) {
    const { username, id, amount, timeMs, by } = one;
    const moved = MOVED[typeInLog(one)];
    if (moved === undefined || id === undefined || amount === undefined || amount === 0) continue;
    if (by?.name !== operator || (timeMs ?? 0) > untilMs) continue;
    const type = undoableOf(one);
    if (only !== undefined && type !== only) continue;
    const undoId = undoIdOf(id);
    const isDone = corrected.has(keyOf({ username, id: undoId }));
    plan.push({ username, type, id, timeMs, undoId, amount: -moved(amount) as Units, isDone });
  }
  return plan;
}

function undoableOf(item: HistoryItem): Undoable {
  const logged = typeInLog(item);
  return (Object.keys(UNDOABLE) as Undoable[]).find((type) => UNDOABLE[type] === logged) as Undoable;
}

/** An id that leaves no room for more is told by its hash. */
function undoIdOf(id: string): string {
  const made = `undo-${id}`;
  return [...made].length <= ID_LENGTH_MAX ? made : `undo-${createHash('sha256').update(id).digest('hex')}`;
}

function keyOf({ username, id }: Pick<HistoryItem, 'username' | 'id'>): string {
  return JSON.stringify([username, id]);
}
