import type { Element, Message } from '../../src/simulate/message.js';
import { BY_ROUND, type Platform, SKIP } from '../../src/simulate/platform.js';
import type { Random } from './random.js';

/*
 * Deliberately few IDs, rounds and amounts, so that histories contain many repeats, late messages, reused IDs and
 * rounds with earlier messages.
 */
const IDS = ['a', 'a', 'b', 'c', 'd'];
const ROUNDS = ['r1', 'r1', 'r2'];
const AMOUNTS = [0, 1, 5, 10, 10, 25, 70];
const STAKES = [1, 5, 10, 10, 70];
const STATUSES = ['OPEN', 'OPEN', 'WAITING'];

type Draw = (platform: Platform, random: Random) => Message;

const KINDS: readonly (readonly [weight: number, draw: Draw])[] = [
  [8, (p, r) => p.bet(r.pick(IDS), r.pick(STAKES), { ...roundOf(r), status: r.pick(STATUSES), ...skip(r) })],
  [7, (p, r) => p.settle(r.pick(IDS), r.pick(AMOUNTS), { ...roundOf(r), isEndRound: r.chance(0.1), ...skip(r) })],
  [3, (p, r) => p.settleRound(r.pick(IDS), r.pick(AMOUNTS), { ...roundOf(r), isEndRound: r.chance(0.1) })],
  [2, (p, r) => p.single(r.pick(IDS), r.pick(STAKES), r.pick(AMOUNTS), roundOf(r))],
  [2, (p, r) => p.adjust(r.pick(IDS), r.pick(STAKES), roundOf(r))],
  [3, (p, r) => p.void(r.pick(IDS), r.pick(AMOUNTS), r.pick(AMOUNTS), { ...roundOf(r), ...byRound(r) })],
  [3, (p, r) => p.cancel(r.pick(IDS), r.pick(AMOUNTS), { ...roundOf(r), ...byRound(r) })],
  [2, (p, r) => p.tip(r.pick(IDS), r.pick(STAKES), { ...roundOf(r), ...skip(r) })],
  [1, (p, r) => p.cancelTip(r.pick(IDS), r.pick(STAKES), roundOf(r))],
  [2, (p, r) => p.reward(r.pick(IDS), r.pick(AMOUNTS), roundOf(r))],
  [2, (p, r) => p.move(r.pick(IDS), r.pick(['DEBIT', 'CREDIT'] as const), r.pick(AMOUNTS))],
  [3, (p, r) => p.rollback(r.pick(IDS), r.pick(AMOUNTS), r.pick(AMOUNTS), { ...roundOf(r), ...byRound(r) })],
  [3, (p) => p.balance()],
];
const WEIGHTS = KINDS.reduce((sum, [weight]) => sum + weight, 0);

/**
 * Draws the platform's next message. Most messages belong to simple rounds; some are of other kinds, and some have
 * several elements.
 */
export function drawMessage(platform: Platform, random: Random): Message {
  let left = random.below(WEIGHTS);
  const draw = KINDS.find(([weight]) => {
    left -= weight;
    return left < 0;
  })?.[1] as Draw;
  const first = draw(platform, random);
  if (first.txns.length === 0 || !random.chance(0.1)) return first;
  return platform.array(first, draw(platform, random));
}

function roundOf(random: Random): Element {
  return { roundId: random.pick(ROUNDS) };
}

function skip(random: Random): Element {
  return random.chance(0.15) ? SKIP : {};
}

function byRound(random: Random): Element {
  return random.chance(0.3) ? BY_ROUND : {};
}
