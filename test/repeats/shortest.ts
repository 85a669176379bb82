import type { Message } from '../../src/simulate/message.js';
import { describeHistory } from './describe-history.js';
import type { Broken, Players } from './explore.js';
import { PlayedHistory } from './played-history.js';
import { type Failing, type Replay, shrink } from './shrink.js';
import type { Step } from './step.js';
import type { Wire } from './wire.js';

const PLAYS_MAX = 1500;

export interface Shortest {
  readonly steps: readonly Step[];
  /**
   * The kind of the history: equal for histories with the same sequence of callbacks, regardless of ids and amounts.
   */
  readonly kind: string;
  readonly text: string;
}

/** Finds the shortest history that breaks the same promise, with its kind and text. */
export async function shortestOf(broken: Broken, wire: Wire, players: Players, pauseMs: number): Promise<Shortest> {
  let answers: PlayedHistory['answers'] = [];
  const replay: Replay = async (steps) => {
    const history = new PlayedHistory(wire, await players.take(broken.seed), undefined);
    for (const [i, step] of steps.entries()) {
      const violation = await history.take(step);
      if (violation === undefined && !history.isUncertain) continue;
      if (violation === undefined) return undefined;
      answers = history.answers;
      return { steps: steps.slice(0, i + 1), violation };
    }
    return undefined;
  };
  const again = await reproduced(broken, replay, pauseMs);
  const note = again === undefined ? ' (played again it did not fail: this is how it failed first)' : '';
  const shortest = again === undefined ? broken : await shrink(again, replay, PLAYS_MAX);
  const shown = again === undefined ? undefined : await replay(shortest.steps);
  const { steps, violation } = shown ?? shortest;
  const text = `seed ${broken.seed}${note}:\n${describeHistory(steps, shown === undefined ? [] : answers, violation)}`;
  return { steps, kind: kindOf(steps, violation.promised), text };
}

/** Reproduces the failure. If it does not occur again, tries once more with a pause before every repeat. */
async function reproduced(broken: Broken, replay: Replay, pauseMs: number): Promise<Failing | undefined> {
  const paused = broken.steps.flatMap((step): Step[] => {
    return step.type === 'repeat' && pauseMs > 0 ? [{ type: 'pause', ms: 2 * pauseMs }, step] : [step];
  });
  for (const steps of [broken.steps, broken.steps, paused, paused]) {
    const failing = await replay(steps);
    if (failing !== undefined) return failing;
  }
  return undefined;
}

/** The text that is equal for histories with the same sequence of callbacks, regardless of ids and amounts. */
function kindOf(steps: readonly Step[], promised: string): string {
  const names = steps.map((step) => (step.type === 'send' ? kindOfMessage(step.message) : step.type));
  return [promised, ...names].join(' ');
}

function kindOfMessage({ endpoint, txns }: Message): string {
  const flags = txns.map(
    ({ transactionType, skipBalanceUpdate }) => `${transactionType} ${skipBalanceUpdate === true}`,
  );
  return `${endpoint} ${flags.join()}`;
}
