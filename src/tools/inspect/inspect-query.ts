import { type HistoryItem, isCorrectedCredit, isOperation } from './history-item.js';

/** What an inspection searches for. */
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
  /** What operators did to any player, from this time on. */
  | { readonly type: 'operators'; readonly sinceMs: number; readonly username: string | undefined }
  /** Credits of the platform that no bet answers for, from this time on, with voids and corrections. */
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
      // A void can be without a time: it came after its credit in any case.
      return isCorrectedCredit(one) && (one.timeMs ?? query.sinceMs) >= query.sinceMs;
  }
}

/** False when nothing from before this time can be wanted. */
export function mayBeBefore(query: InspectQuery, timeMs: number): boolean {
  return !('sinceMs' in query) || query.sinceMs < timeMs;
}
