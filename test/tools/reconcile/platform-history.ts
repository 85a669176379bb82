import type { Command } from '../../../src/wallet/command.js';
import { commands } from '../../support/domain.js';
import type { WrittenStore } from '../written-store.js';

const { place, settle, cancel, adjust, void: voidSettled, rollback } = commands;

/** A record in the form of betTransactionsV2. */
export interface Reported {
  betId: string;
  username: string;
  currency: string;
  productId: string;
  roundId: string;
  stake: number;
  payout: number | null;
  betStatus: string;
  updatedDate: string;
  /** The way in which the round ended. Only this test uses the field. */
  readonly way: Way;
}

/** The ways in which a round can end. */
export const WAYS = [
  'settled',
  'lost',
  'single',
  'open',
  'waiting',
  'cancelled',
  'voided',
  'adjusted',
  'by-round',
  'reopened',
  'reopened-round',
] as const;
export type Way = (typeof WAYS)[number];

const UNITS = 10_000;

/**
 * Plays the rounds with these numbers, each ending in the next of the `WAYS`, and returns the platform's records. The
 * platform keeps its own simple books and does not use walletd's decisions.
 */
export async function playRounds(
  store: WrittenStore,
  players: readonly string[],
  from: number,
  to: number,
): Promise<Reported[]> {
  const reported: Reported[] = [];
  for (let i = from; i < to; i++) {
    const way = WAYS[i % WAYS.length] as Way;
    const username = players[i % players.length] as string;
    reported.push(...(await playRound(store, username, i, way)));
  }
  return reported;
}

async function playRound(store: WrittenStore, username: string, i: number, way: Way): Promise<Reported[]> {
  const roundId = `r${i}`;
  const productId = i % 2 === 0 ? 'P1' : 'P2';
  const stake = 1 + (i % 7) * 0.25;
  const payout = way === 'lost' ? 0 : stake * 2 + (i % 3);
  const over = { username, productId, id: `req-${i}` };
  const betAmount = stake * UNITS;
  const payoutAmount = payout * UNITS;
  const id = `bet-${i}`;
  const run = (...all: Command[]) => store.run(...all);
  const record = (betStatus: string, own: Partial<Reported> = {}): Reported => ({
    ...{ betId: id, username, currency: 'THB', productId, roundId, stake, payout, betStatus, way },
    updatedDate: new Date(store.nowMs).toISOString(),
    ...own,
  });
  const bet = { id, roundId, betAmount };
  switch (way) {
    case 'settled':
    case 'lost':
      await run(place([bet], over), settle([{ ...bet, payoutAmount }], { ...over, id: `s-${i}` }));
      return [record('SETTLED')];
    case 'single':
      await run(settle([{ ...bet, payoutAmount, isSingleState: true }], over));
      return [record('SETTLED')];
    case 'open':
      await run(place([bet], over));
      return [record('OPEN', { payout: null })];
    case 'waiting':
      await run(place([{ ...bet, status: 'WAITING' }], over));
      return [record(i % 4 === 0 ? 'WAITING' : 'OPEN', { payout: 0 })];
    case 'cancelled':
      await run(place([bet], over), cancel([bet], { ...over, id: `c-${i}` }));
      return [record(i % 4 === 0 ? 'REFUND' : 'CANCELLED', { payout: stake })];
    case 'voided':
      await run(
        place([bet], over),
        settle([{ ...bet, payoutAmount }], { ...over, id: `s-${i}` }),
        voidSettled([{ ...bet, payoutAmount }], { ...over, id: `v-${i}` }),
      );
      return [record('VOID')];
    case 'adjusted':
      await run(
        place([bet], over),
        adjust([{ id, roundId, betAmount: 2 * betAmount }], { ...over, id: `a-${i}` }),
        settle([{ ...bet, payoutAmount }], { ...over, id: `s-${i}` }),
      );
      return [record('SETTLED', { stake: 2 * stake })];
    case 'reopened':
      await run(
        place([bet], over),
        settle([{ ...bet, payoutAmount }], { ...over, id: `s-${i}` }),
        rollback([{ ...bet, payoutAmount }], { ...over, id: `b-${i}` }),
      );
      return [record(i % 2 === 0 ? 'UNSETTLED' : 'OPEN', { payout: null })];
    case 'reopened-round': {
      const other = { ...bet, id: `${id}-b` };
      await run(
        place([bet, other], over),
        settle([{ id: `s-${i}`, roundId, payoutAmount, byRound: true }], { ...over, id: `s-${i}` }),
        rollback([{ id: `b-${i}`, roundId, payoutAmount, byRound: true }], { ...over, id: `b-${i}` }),
      );
      return [record('UNSETTLED', { payout: null }), record('UNSETTLED', { betId: other.id, payout: null })];
    }
    case 'by-round': {
      const other = { ...bet, id: `${id}-b` };
      await run(
        place([bet, other], over),
        settle([{ id: `s-${i}`, roundId, payoutAmount, byRound: true }], { ...over, id: `s-${i}` }),
        settle([{ id: `t-${i}`, roundId, payoutAmount: UNITS, byRound: true }], { ...over, id: `t-${i}` }),
      );
      // The platform may divide a round's payout among its bets as it likes.
      return [record('SETTLED', { payout: payout - 0.5 }), record('SETTLED', { betId: other.id, payout: 1.5 })];
    }
  }
}
