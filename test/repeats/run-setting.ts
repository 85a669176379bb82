import type { Counts } from './counts.js';
import { type Broken, type Explored, explore, type Players } from './explore.js';
import { FreshPlayers } from './fresh-players.js';
import type { Place, Setting } from './settings/setting.js';
import { shortestOf } from './shortest.js';
import type { Wire } from './wire.js';

/** Between two lines that tell how far it is. */
const PROGRESS_MS = 5000;

export interface RunPlan {
  readonly seed: number;
  readonly seconds: number;
  /** Ends after so many repeats; infinite: after the time. */
  readonly repeatsMax: number;
  /** Ends after so many broken histories, and shrinks each of them. */
  readonly findingsMax: number;
  /** Ends it early, as a signal does. */
  readonly isOver?: () => boolean;
}

export interface Found {
  readonly seed: number;
  /** One line a message. */
  readonly text: string;
}

export interface Ran {
  readonly counts: Counts;
  readonly seconds: number;
  /** The shortest history of each kind. */
  readonly findings: readonly Found[];
  readonly resent: number;
  readonly troubles: number;
  /** Names of closed rounds in the archive; undefined where there is none. */
  readonly archived: number | undefined;
}

/** Explores one setting, in a place of its own, and shrinks the histories that break a promise. */
export async function runSetting(
  setting: Setting,
  plan: RunPlan,
  onProgress: (sentence: string) => void = () => {},
): Promise<Ran> {
  const place = await setting.start();
  try {
    const players = new FreshPlayers(place.wire);
    const startMs = performance.now();
    let nextMs = PROGRESS_MS;
    const explored = await exploreTroubled(setting, place, players, plan, (counts) => {
      const passedMs = performance.now() - startMs;
      if (passedMs >= nextMs) {
        nextMs += PROGRESS_MS;
        onProgress(`${Math.round(passedMs / 1000)} s, ${counts.repeats} repeats`);
      }
      return !plan.isOver?.() && passedMs < plan.seconds * 1000 && counts.repeats < plan.repeatsMax;
    });
    const seconds = (performance.now() - startMs) / 1000;
    const archived = await place.archived?.();
    const { troubles = 0 } = place;
    const errors = place.errors();
    if (errors.length > 0) throw new Error(`the server has failed:\n${errors.join('\n')}`);
    if (explored.broken.length > 0) onProgress(`shrinking ${explored.broken.length} broken histories`);
    const findings = await shrinkAll(explored.broken, place.wire, players, setting.restMs);
    return { counts: explored.counts, seconds, findings, resent: place.wire.resent, troubles, archived };
  } finally {
    await place.close();
  }
}

/** Explores while the place is in trouble. Resolves when the place is undisturbed again. */
async function exploreTroubled(
  { lanes, restMs }: Setting,
  place: Place,
  players: Players,
  { seed, findingsMax }: RunPlan,
  goesOn: (counts: Counts) => boolean,
): Promise<Explored> {
  let isOver = false;
  let failure: unknown;
  const trouble = place
    .trouble?.(() => !isOver)
    .catch((error) => {
      failure = error;
      isOver = true;
    });
  const explored = await explore(place.wire, players, { seed, lanes, restMs, findingsMax }, (counts) => {
    return !isOver && goesOn(counts);
  }).finally(async () => {
    isOver = true;
    await trouble;
  });
  if (failure !== undefined) throw failure;
  return explored;
}

/** The shortest histories, each kind once. */
async function shrinkAll(
  broken: readonly Broken[],
  wire: Wire,
  players: Players,
  restMs: number,
): Promise<readonly Found[]> {
  const findings = new Map<string, Found>();
  for (const one of broken) {
    const { kind, text } = await shortestOf(one, wire, players, restMs);
    if (!findings.has(kind)) findings.set(kind, { seed: one.seed, text });
  }
  return [...findings.values()];
}
