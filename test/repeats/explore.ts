import type { Player } from '../../src/simulate/message.js';
import { Counts } from './counts.js';
import { HistoryDrawer } from './history-drawer.js';
import { PlayedHistory } from './played-history.js';
import type { Step } from './step.js';
import type { Violation } from './violation.js';
import type { Wire } from './wire.js';

/** A history that breaks a promise in its last step. */
export interface Broken {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly violation: Violation;
}

export interface ExplorePlan {
  /** The seed of the first history; each history has a seed of its own. */
  readonly seed: number;
  /** Number of histories played concurrently. */
  readonly senders: number;
  readonly pauseMs: number;
  /** Ends the exploration after this many broken histories. */
  readonly findingsMax: number;
}

export interface Explored {
  readonly broken: readonly Broken[];
  readonly counts: Counts;
}

/** Source of players without history. The seed determines the opening balance. */
export interface Players {
  take(seed: number): Promise<Player>;
}

/** Plays random histories until `goesOn` returns false or enough histories have broken a promise. */
export async function explore(
  wire: Wire,
  players: Players,
  { seed, senders, pauseMs, findingsMax }: ExplorePlan,
  goesOn: (counts: Counts) => boolean,
): Promise<Explored> {
  const counts = new Counts();
  const broken: Broken[] = [];
  let next = seed;
  let failure: unknown;
  const isOver = () => failure !== undefined || broken.length >= findingsMax || !goesOn(counts);
  const send = async () => {
    while (!isOver()) {
      const historySeed = next++;
      const found = await playDrawn(historySeed, pauseMs, wire, await players.take(historySeed), counts, isOver);
      if (found !== undefined) broken.push(found);
    }
  };
  const playing = Array.from({ length: senders }, () =>
    send().catch((error) => {
      failure ??= error;
    }),
  );
  await Promise.all(playing);
  if (failure !== undefined) throw failure;
  return { broken: broken.slice(0, findingsMax), counts };
}

/** Draws and plays one history. If a step breaks a promise, resolves to the steps up to that one. */
async function playDrawn(
  seed: number,
  pauseMs: number,
  wire: Wire,
  player: Player,
  counts: Counts,
  isOver: () => boolean,
): Promise<Broken | undefined> {
  const drawer = new HistoryDrawer(seed, pauseMs);
  const history = new PlayedHistory(wire, player, counts);
  const steps: Step[] = [];
  const take = async (more: readonly Step[]): Promise<Violation | undefined> => {
    for (const step of more) {
      steps.push(step);
      const violation = await history.take(step);
      if (violation !== undefined) return violation;
    }
    return undefined;
  };
  while (!isOver()) {
    const sending = drawer.sending(history);
    if (sending.length === 0) break;
    const violation =
      (await take(sending)) ?? (history.isUncertain ? undefined : await take(drawer.repeating(history)));
    if (violation !== undefined) return { seed, steps, violation };
    if (history.isUncertain) break;
  }
  counts.histories++;
  return undefined;
}
