import fc from 'fast-check';
import type { OnProgress } from '../../base/progress.js';
import { CannotKnow, Stopped } from '../cannot-know.js';
import { messagesOf } from '../case.js';
import { ruleOf } from '../explain.js';
import { type Known, NOTHING_KNOWN } from '../known.js';
import { type Deviation, play, stopReason, type Table } from '../play.js';
import { type Players, PlayersError } from '../players.js';
import { findMissing } from '../profile.js';
import type { Result } from '../result.js';
import { type Action, arbitraryActions } from './arbitrary-actions.js';
import { historyOf } from './history.js';

/** Time limit for shrinking a history. Usually the history is short enough before that. */
const SHRINKING_MS_MAX = 60_000;
const FIRST_SEED_MAX = 2 ** 31 - 1;

export interface Explored {
  /**
   * The difference, or one result for all histories. There are further results if some histories could not be played to
   * their end.
   */
  readonly results: readonly Result[];
  readonly histories: number;
  readonly messages: number;
  readonly seconds: number;
  /** Number of histories that ended at a known rule. */
  readonly passed: number;
}

/** The start and extent of an exploration. */
export interface Plan {
  /** The seed of the first history. Each history has its own seed. */
  readonly seed: number;
  readonly seconds: number;
  /** Number of concurrent histories. Most of the time they wait for the operator's disk. */
  readonly concurrency: number;
}

/**
 * Plays random histories until the time is over. The first history with a difference ends the exploration, unless the
 * difference breaks a known rule. The history is then played again in ever shorter forms, with new players. If the
 * shortest form breaks a known rule, the exploration goes on.
 */
export async function explore(
  table: Table,
  players: Players,
  { seed, seconds, concurrency }: Plan,
  onProgress: OnProgress = () => {},
  known: Known = NOTHING_KNOWN,
): Promise<Explored> {
  const exploration = new Exploration(table, players, known);
  const startMs = performance.now();
  let next = seed;
  const playInTurn = async () => {
    for (;;) {
      const passedMs = performance.now() - startMs;
      onProgress(Math.min(passedMs, seconds * 1000), seconds * 1000);
      if (exploration.isOver || passedMs > seconds * 1000) return;
      await exploration.play(next++ % FIRST_SEED_MAX);
    }
  };
  // No other history is played while one is being shortened.
  do await Promise.all(Array.from({ length: concurrency }, playInTurn));
  while (!exploration.isOver && performance.now() - startMs <= seconds * 1000);
  return exploration.explored((performance.now() - startMs) / 1000);
}

class Exploration {
  /** The seed of the first history with a difference. Differences in concurrent histories are ignored. */
  private shrinking: number | undefined;
  private passed = 0;
  private histories = 0;
  private messages = 0;
  private readonly actions: fc.Arbitrary<readonly Action[]>;
  private readonly unknown = new Map<string, number>();
  private found: Result | undefined;
  /** The reason why no further player could be created. */
  private ending: PlayersError | undefined;

  constructor(
    private readonly table: Table,
    private readonly players: Players,
    private readonly known: Known,
  ) {
    this.actions = arbitraryActions(table.profile);
  }

  get isOver(): boolean {
    return this.shrinking !== undefined || this.ending !== undefined || stopReason(this.table) !== undefined;
  }

  /** Plays one history. If it differs, also finds its shortest form. */
  async play(seed: number): Promise<void> {
    let smallest: Deviation | undefined;
    const property = fc.asyncProperty(this.actions, async (actions) => {
      const deviation = await this.findDeviation(actions);
      if (deviation === undefined) return;
      if (this.shrinking === undefined && this.known.passes(ruleOf(deviation))) {
        this.passed++;
        return;
      }
      this.shrinking ??= seed;
      if (this.shrinking !== seed) return;
      smallest = deviation;
      throw new Error('it differs');
    });
    await fc.check(property, { seed, numRuns: 1, unbiased: true, interruptAfterTimeLimit: SHRINKING_MS_MAX });
    if (smallest === undefined) return;
    const name = `a random history, the first of --seed ${seed}`;
    const rule = ruleOf(smallest);
    if (this.known.passes(rule)) {
      this.passed++;
      this.shrinking = undefined;
      return;
    }
    this.found = { rule, name, verdict: 'differs', deviation: smallest, messages: 0 };
  }

  explored(seconds: number): Explored {
    const { histories, messages, passed } = this;
    const unknown = [...this.unknown].map(
      ([why, times]): Result => ({
        rule: 'random',
        name: `${times} random histories`,
        verdict: 'unknown',
        why,
        messages: 0,
      }),
    );
    // If no history was played, only the error can be reported.
    if (this.ending !== undefined && histories === 0) throw this.ending;
    const ending = this.ending?.message ?? stopReason(this.table);
    if (ending !== undefined) {
      unknown.push({ rule: 'random', name: 'further histories', verdict: 'unknown', why: ending, messages: 0 });
    }
    const agreed: Result = { rule: 'random', name: `${histories} random histories`, verdict: 'agrees', messages };
    const results = this.found === undefined ? [...unknown, agreed] : [this.found, ...unknown];
    return { results, histories, messages, seconds, passed };
  }

  private async findDeviation(actions: readonly Action[]): Promise<Deviation | undefined> {
    try {
      const steps = historyOf(actions).filter(
        (step) => findMissing(this.table.profile, messagesOf(step)) === undefined,
      );
      const { deviation, messages } = await play(this.table, await this.players.take(), steps);
      this.histories++;
      this.messages += messages;
      return deviation;
    } catch (error) {
      if (error instanceof Stopped) return undefined;
      if (error instanceof PlayersError) {
        this.ending ??= error;
        return undefined;
      }
      if (!(error instanceof CannotKnow)) throw error;
      // Remove the numbers, so that similar reasons are counted as one.
      const why = error.message.replaceAll(/\b\d+ times/g, 'several times');
      this.unknown.set(why, (this.unknown.get(why) ?? 0) + 1);
      return undefined;
    }
  }
}
