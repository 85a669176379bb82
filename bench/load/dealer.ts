import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { Queue } from '../../src/base/queue.js';
import type { Mix, Step, Story } from './stories.js';

const RANDOM_SEED = 20_251;
const TWO_32 = 2 ** 32;

/** One round of play, and the current step of its story. */
export class Play {
  /** True if the last request was refused, so that its outcome is unknown until a retry is answered. */
  isDoubtful = false;
  private at = 0;

  constructor(
    readonly number: number,
    readonly player: number,
    private readonly steps: readonly Step[],
  ) {}

  get step(): Step {
    return this.steps[this.at] as Step;
  }

  get isNew(): boolean {
    return this.at === 0;
  }

  /** Moves to the next step after an answer. Returns false after the last step. */
  advance(): boolean {
    this.isDoubtful = false;
    return ++this.at < this.steps.length;
  }
}

/**
 * Chooses the next play: the one that has waited longest, or else a new one. Every run draws the same stories and
 * players in the same order.
 */
export class Dealer {
  private readonly waiting = new Queue<Play>();
  private readonly hundred: readonly Story[];
  private readonly drawPlayer: (play: number) => number;
  private readonly random: () => number;
  private plays = 0;

  constructor(mix: Mix, stories: readonly Story[], players: number) {
    const generator = xoroshiro128plus(RANDOM_SEED);
    this.random = () => (generator.next() >>> 0) / TWO_32;
    this.hundred = stories.flatMap((story) => Array.from({ length: story.share }, () => story));
    // Players take turns, so that a player's balance is known before the player's next callback.
    this.drawPlayer = mix === 'pairs' ? (play) => play % players : zipf(players, this.random);
  }

  next(): Play {
    return this.waiting.shift() ?? this.newPlay();
  }

  /** Puts a play back into the queue, for its next request or for a retry. */
  putBack(play: Play): void {
    this.waiting.push(play);
  }

  /** Yields the plays that are still waiting for their next request when the load ends. */
  *unfinished(): Iterable<Play> {
    for (let play = this.waiting.shift(); play !== undefined; play = this.waiting.shift()) yield play;
  }

  private newPlay(): Play {
    const number = this.plays++;
    const { steps } = this.hundred[Math.floor(this.random() * this.hundred.length)] as Story;
    return new Play(number, this.drawPlayer(number), steps);
  }
}

/** Draws players by Zipf's law: the player of rank n plays 1/n as often as the first. */
function zipf(players: number, random: () => number): () => number {
  const cumulated = new Float64Array(players);
  let sum = 0;
  for (let rank = 1; rank <= players; rank++) {
    sum += 1 / rank;
    cumulated[rank - 1] = sum;
  }
  return () => {
    const drawn = random() * sum;
    let low = 0;
    for (let high = players - 1; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((cumulated[middle] as number) > drawn) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
