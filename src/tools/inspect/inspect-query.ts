import { type HistoryItem, isOperation } from './history-item.js';

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
  | { readonly type: 'operators'; readonly sinceMs: number; readonly username: undefined };

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
  }
}

/** False when nothing from before this time can be wanted. */
export function mayBeBefore(query: InspectQuery, timeMs: number): boolean {
  return query.type !== 'operators' || query.sinceMs < timeMs;
}
