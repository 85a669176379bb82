import { type HistoryItem, isCorrectedCredit, isOperation } from './history-item.js';

/** Subject of an inspection. */
export type InspectQuery =
  | { readonly type: 'player'; readonly username: string }
  | {
      readonly type: 'round';
      readonly productId: string;
      readonly roundId: string;
      readonly username: string | undefined;
    }
  | {
      readonly type: 'transaction';
      /** The id of a bet, settlement, tip, cancel or void, or of a deposit, withdrawal or import. */
      readonly id: string;
      readonly username: string | undefined;
    }
  /** Operator actions on any player, from this time on. */
  | { readonly type: 'operators'; readonly sinceMs: number; readonly username: string | undefined }
  /** Platform credits without a bet, from this time on, with their voids and corrections. */
  | { readonly type: 'credits'; readonly sinceMs: number; readonly username: string | undefined };

export function isAbout({ username }: InspectQuery, name: string): boolean {
  return username === undefined || username === name;
}

export function isWanted(query: InspectQuery, one: HistoryItem): boolean {
  if (!isAbout(query, one.username)) return false;
  switch (query.type) {
    case 'player':
      return true;
    case 'round':
      return one.productId === query.productId && one.roundId === query.roundId;
    case 'transaction':
      return one.id === query.id || one.others.includes(query.id);
    case 'operators':
      return isOperation(one) && (one.timeMs ?? 0) >= query.sinceMs;
    case 'credits':
      // A void whose time is unknown is included, because a void always follows its credit.
      return isCorrectedCredit(one) && (one.timeMs ?? query.sinceMs) >= query.sinceMs;
  }
}

/** False if nothing before this time can match the query. */
export function mayBeBefore(query: InspectQuery, timeMs: number): boolean {
  return !('sinceMs' in query) || query.sinceMs < timeMs;
}
