import type { Step } from '../case.js';
import type { Message } from '../message.js';
import { Platform } from '../platform.js';
import { findMissing, type Profile } from '../profile.js';

const ANY = 'any order';
const ROUNDS = 24;

/** Messages of a round as platforms play it. `id` names both the bet and the round. */
type Round = (p: Platform, id: string, round: { readonly roundId: string }) => readonly Message[];

const ROUND_KINDS: readonly Round[] = [
  (p, id, round) => [p.bet(id, 5, round), p.settle(id, 0, round)],
  (p, id, round) => [p.bet(id, 5, round), p.settle(id, 12.5, round)],
  (p, id, round) => [p.balance(), p.single(id, 2, 3, round)],
  (p, id, round) => [p.bet(id, 5, round), p.settle(id, 4, round)],
  (p, id, round) => [p.bet(id, 5, round), p.cancel(id, 5, round)],
  (p, id, round) => [p.bet(id, 1, round), p.bet(`${id}x`, 2, round), p.settleRound(`${id}s`, 6, round)],
  (p, id, round) => [p.bet(id, 5, round), p.adjust(id, 8, round), p.settle(id, 9, round), p.void(id, 8, 9, round)],
  (p, id, round) => [p.tip(id, 1, round), p.cancelTip(id, 1, round), p.reward(`${id}w`, 2, round)],
  (p, id) => [p.move(id, 'DEBIT', 20), p.move(id, 'CREDIT', 19)],
  (p, id, round) => [p.bet(id, 5, round), p.settle(id, 9, round), p.rollback(id, 0, 9, round), p.settle(id, 0, round)],
];

/**
 * Rounds of one player, beginning with the `first` kind. Every third message is sent twice, as if its answer had been
 * lost.
 */
export function roundsOf(profile: Profile, first: number): Step[] {
  const platform = new Platform();
  return Array.from({ length: ROUNDS }, (_, n) => {
    const id = `b${n}`;
    const kind = ROUND_KINDS[(first + n) % ROUND_KINDS.length] as Round;
    const messages = kind(platform, id, { roundId: `r${n}` })
      .flatMap((one, k) => ((n + k) % 3 === 0 ? [one, one] : [one]))
      .filter(({ endpoint }) => endpoint !== 'checkBalance' || profile.endpoints.includes(endpoint));
    return findMissing(profile, messages) === undefined ? messages.map((message): Step => [message, ANY]) : [];
  }).flat();
}
