import type { Counts } from './counts.js';
import { type Broken, type Explored, explore, type Players } from './explore.js';
import { FreshPlayers } from './fresh-players.js';
import type { Deployment, Setting } from './settings/setting.js';
import { shortestOf } from './shortest.js';
import type { Wire } from './wire.js';

/** Interval of the progress lines. */
const PROGRESS_MS = 5000;

export interface RunPlan {
  readonly seed: number;
  readonly seconds: number;
  /** Ends the run after this many repeats; if infinite, only the time limit ends it. */
  readonly repeatsMax: number;
  /** Ends the run after this many broken histories, each of which is shrunk. */
  readonly findingsMax: number;
  /** Returns true to end the run early, for example after a signal. */
  readonly isOver?: () => boolean;
}

export interface Found {
  readonly seed: number;
  /** The text of the history, with one line per message. */
  readonly text: string;
}

export interface Ran {
  readonly counts: Counts;
  readonly seconds: number;
  /** The shortest history of each kind. */
  readonly findings: readonly Found[];
  readonly resent: number;
  readonly disturbances: number;
  /** Number of keys of closed rounds in the archive; undefined without an archive. */
  readonly archived: number | undefined;
}

/** Explores one setting in its own deployment and shrinks the histories that break a promise. */
export async function runSetting(
  setting: Setting,
  plan: RunPlan,
  onProgress: (sentence: string) => void = () => {},
): Promise<Ran> {
  const deployment = await setting.start();
  try {
    const players = new FreshPlayers(deployment.wire);
    const startMs = performance.now();
    let nextMs = PROGRESS_MS;
    const explored = await exploreDisturbed(setting, deployment, players, plan, (counts) => {
      const passedMs = performance.now() - startMs;
      if (passedMs >= nextMs) {
        nextMs += PROGRESS_MS;
        onProgress(`${Math.round(passedMs / 1000)} s, ${counts.repeats} repeats`);
      }
      return !plan.isOver?.() && passedMs < plan.seconds * 1000 && counts.repeats < plan.repeatsMax;
    });
    const seconds = (performance.now() - startMs) / 1000;
    const archived = await deployment.archived?.();
    const { disturbances = 0 } = deployment;
    const errors = deployment.errors();
    if (errors.length > 0) throw new Error(`the server has failed:\n${errors.join('\n')}`);
    if (explored.broken.length > 0) onProgress(`shrinking ${explored.broken.length} broken histories`);
    const findings = await shrinkAll(explored.broken, deployment.wire, players, setting.pauseMs);
    return { counts: explored.counts, seconds, findings, resent: deployment.wire.resent, disturbances, archived };
  } finally {
    await deployment.close();
  }
}

/** Explores while the deployment is disturbed. Resolves once the disturbances have ended. */
async function exploreDisturbed(
  { senders, pauseMs }: Setting,
  deployment: Deployment,
  players: Players,
  { seed, findingsMax }: RunPlan,
  goesOn: (counts: Counts) => boolean,
): Promise<Explored> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const exploring = explore(deployment.wire, players, { seed, senders: senders, pauseMs, findingsMax }, (counts) => {
    return !isOver && goesOn(counts);
  });
  const disturbing = deployment.disturb?.(() => !isOver);
  const [explored, disturbed] = await Promise.allSettled([exploring.finally(end), disturbing?.finally(end)]);
  // Report this error first: a deployment that did not recover is the cause of all later violations.
  if (disturbed.status === 'rejected') throw disturbed.reason;
  if (explored.status === 'rejected') throw explored.reason;
  return explored.value;
}

/** The shortest history of each kind. */
async function shrinkAll(
  broken: readonly Broken[],
  wire: Wire,
  players: Players,
  pauseMs: number,
): Promise<readonly Found[]> {
  const findings = new Map<string, Found>();
  for (const one of broken) {
    const { kind, text } = await shortestOf(one, wire, players, pauseMs);
    if (!findings.has(kind)) findings.set(kind, { seed: one.seed, text });
  }
  return [...findings.values()];
}
