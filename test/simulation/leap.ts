import { DAY_MS } from '../../src/base/time.js';
import type { Random } from './random.js';
import type { World } from './world.js';

const HOUR_MS = 3_600_000;
/**
 * Maximum length of a single leap. The limit leaves time for sweeps, confirmed times and dropped rounds between leaps.
 */
const STEP_MS = 6 * HOUR_MS;
const STEPS_MAX = 12;
/** Pause between leaps, during which processes exchange messages. */
const REST_MS = 120;

/**
 * Lets hours or weeks pass without play. The clocks advance, and each repeating timer that becomes due fires a few
 * times.
 */
export function leap(world: World, random: Random): void {
  const { retentionMs, time } = world;
  const ms = random.pick([HOUR_MS, STEP_MS, DAY_MS, retentionMs / 2, retentionMs + 2 * DAY_MS]);
  const steps = Math.min(Math.ceil(ms / STEP_MS), STEPS_MAX);
  for (let step = 0; step < steps; step++) time.after(step * REST_MS, () => world.leap(ms / steps));
}
