import type { Listener } from '../sending.js';
import type { Attack } from './attack.js';

/** The same attack, aimed at a different listener. */
export function aimedAt(listener: Listener, attack: Attack): Attack {
  return {
    name: `${attack.name} to ${listener}`,
    plan: (random, aim) => attack.plan(random, aim).map((sending) => ({ ...sending, to: listener })),
  };
}
