import type { Change } from '../../wallet/event.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { type Happening, isOperation } from '../happening.js';

/** What somebody wants to know. */
export type Question =
  | { readonly type: 'player'; readonly username: string }
  | {
      readonly type: 'round';
      readonly productId: string;
      readonly roundId: string;
      readonly username: string | undefined;
    }
  | {
      readonly type: 'transaction';
      /** Of a bet, settlement, tip, cancel or void, or of a deposit, withdrawal or import. */
      readonly id: string;
      readonly username: string | undefined;
    }
  /** What operators did to any player, from this time on. */
  | { readonly type: 'operators'; readonly sinceMs: number; readonly username: undefined };

export function isAbout({ username }: Question, name: string): boolean {
  return username === undefined || username === name;
}

export function isWanted(question: Question, one: Happening): boolean {
  if (!isAbout(question, one.username)) return false;
  switch (question.type) {
    case 'player':
      return true;
    case 'round':
      return one.productId === question.productId && one.roundId === question.roundId;
    case 'transaction':
      return one.id === question.id || one.others.includes(question.id);
    case 'operators':
      return isOperation(one) && (one.timeMs ?? 0) >= question.sinceMs;
  }
}

/** False when nothing that happened before this time can be wanted. */
export function mayBeBefore(question: Question, timeMs: number): boolean {
  return question.type !== 'operators' || question.sinceMs < timeMs;
}

/** Changes that give an id its round. Settlements, and cancels and voids of rounds, have ids of their own. */
const NAMING: ReadonlySet<string> = new Set<Change['type']>([
  'bet-placed',
  'single-state-settled',
  'cancel-remembered',
  'tip-credited',
]);

/**
 * The rounds of transactions, so far as the question needs them: many messages name a bet by its id alone, and which
 * round that is was said when it was placed.
 */
export class RoundNames {
  private readonly names = new Map<string, string>();

  constructor(private readonly question: Question) {}

  readonly find = (username: string, productId: string, id: string): string | undefined => {
    return this.names.get(keyOf(username, productId, id));
  };

  note({ type, username, productId, roundId, id }: Happening): void {
    if (!NAMING.has(type) || productId === undefined || roundId === undefined || id === undefined) return;
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
    const { question } = this;
    if (!isAbout(question, username)) return false;
    if (question.type === 'round') return productId === question.productId && roundId === question.roundId;
    if (question.type === 'operators') return false;
    return question.type === 'player' || id === question.id;
  }
}

function keyOf(username: string, productId: string, id: string): string {
  return JSON.stringify([username, productId, id]);
}
