import type { Message } from '../../src/simulate/message.js';
import { Random } from '../simulation/random.js';
import { MessageDrawer } from './draw-message.js';
import type { Delivery, Step } from './step.js';

const STEPS_LEAST = 8;
const STEPS_MOST = 60;
const REPEATS_PER_STEP = 2;
const RECENT = 4;
/**
 * Share of repeats for which all transactions are compared before and after the repeat. A comparison costs as much as
 * ten callbacks.
 */
const LISTING_SHARE = 1 / 16;
const AT_ONCE = 0.05;
const CUT = 0.02;
const REFUSED_AGAIN = 0.06;
const PAUSE = 0.06;

/** Messages of a history, grouped by the answers that they have received so far. */
export interface Past {
  readonly acknowledged: readonly Message[];
  readonly refused: readonly Message[];
}

/**
 * Draws one history from its seed. The choice of repeats also depends on the answers, so equal answers lead to equal
 * histories.
 */
export class HistoryDrawer {
  private readonly random: Random;
  private readonly messages: MessageDrawer;
  private left: number;

  /** `pauseMs`: the time until a closed round leaves memory; 0 if rounds do not leave memory. */
  constructor(
    seed: number,
    private readonly pauseMs: number,
  ) {
    this.random = new Random(seed);
    this.messages = new MessageDrawer(this.random.fork());
    this.left = STEPS_LEAST + this.random.below(STEPS_MOST - STEPS_LEAST);
  }

  /** The next new message with the pause before it; empty at the end of the history. */
  sending({ refused }: Past): Step[] {
    if (this.left-- <= 0) return [];
    const { random, pauseMs } = this;
    const isAgain = refused.length > 0 && random.chance(REFUSED_AGAIN);
    const message = isAgain ? random.pick(refused) : this.messages.next();
    const send: Step = { type: 'send', message, delivery: this.delivery() };
    return pauseMs > 0 && random.chance(PAUSE) ? [{ type: 'pause', ms: pauseMs }, send] : [send];
  }

  repeating({ acknowledged }: Past): Step[] {
    if (acknowledged.length === 0) return [];
    const messages = Array.from({ length: REPEATS_PER_STEP }, () => this.pick(acknowledged));
    return [{ type: 'repeat', messages, isListed: this.random.chance(LISTING_SHARE) }];
  }

  /** Picks a message to repeat. A third of the picks are recent, a third are old, and a third are of any age. */
  private pick(acknowledged: readonly Message[]): Message {
    const { random } = this;
    const count = acknowledged.length;
    const [from, to] = random.pick([
      [Math.max(0, count - RECENT), count],
      [0, Math.max(1, count >> 2)],
      [0, count],
    ] as const);
    return acknowledged[from + random.below(to - from)] as Message;
  }

  private delivery(): Delivery {
    if (this.random.chance(AT_ONCE)) return 'at once';
    return this.random.chance(CUT) ? 'cut' : 'once';
  }
}
