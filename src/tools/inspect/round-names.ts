import type { Wallet } from '../../wallet/state/wallet.js';
import { namesRound } from '../event-kinds.js';
import type { HistoryItem } from './history-item.js';
import { type InspectQuery, isAbout } from './inspect-query.js';

/**
 * Names of the rounds of transactions, as far as the query needs them. Many messages name a bet only by its id, and
 * only the message that placed the bet named the round.
 */
export class RoundNames {
  private readonly names = new Map<string, string>();

  constructor(private readonly query: InspectQuery) {}

  readonly find = (username: string, productId: string, id: string): string | undefined => {
    return this.names.get(keyOf(username, productId, id));
  };

  note({ type, username, productId, roundId, id }: HistoryItem): void {
    if (!namesRound(type) || productId === undefined || roundId === undefined || id === undefined) return;
    this.set(username, productId, roundId, id);
  }

  noteAll(wallet: Wallet): void {
    for (const { id, round, kind } of wallet.transactions()) {
      if (kind === 'bet' || kind === 'tip' || kind === 'tombstone') {
        this.set(wallet.username, round.productId, round.id, id);
      }
    }
  }

  private set(username: string, productId: string, roundId: string, id: string): void {
    if (this.isNeeded(username, productId, roundId, id)) this.names.set(keyOf(username, productId, id), roundId);
  }

  private isNeeded(username: string, productId: string, roundId: string, id: string): boolean {
    const { query } = this;
    if (!isAbout(query, username)) return false;
    if (query.type === 'round') return productId === query.productId && roundId === query.roundId;
    if (query.type === 'operators' || query.type === 'credits') return false;
    return query.type === 'player' || id === query.id;
  }
}

function keyOf(username: string, productId: string, id: string): string {
  return JSON.stringify([username, productId, id]);
}
