import type { Cause, Replica, ReplicaState } from './replica.js';

/**
 * A replica in human-readable form: the state of one shard on one node, and the next event. Times are in ms since 1970.
 */
export interface Explanation {
  readonly shard: number;
  readonly state: ReplicaState;
  /** The start of the state. */
  readonly sinceMillis: number;
  /** Event that ends the state; null if the shard waits for nothing. */
  readonly waitsFor: string | null;
  /** Next action of this node; null if this node only waits. */
  readonly next: string | null;
  /** The time of that action at the latest. */
  readonly nextMillis: number | null;
  /** The newest problem of this shard; null if there is none. */
  readonly problem: string | null;
  /** All of this in one sentence. */
  readonly sentence: string;
}

const CAUSES: Readonly<Record<Cause, (node: string) => string | null>> = {
  nothing: () => null,
  elsewhere: (node) => `nothing: the assignment gives it to ${node}`,
  assignment: () => 'the shard assignment in the membership registry',
  'own-shards': () => 'the load of the shards that this node should serve',
  load: () => 'the load of its wallets from snapshot and log',
  retry: () => 'the next attempt',
  'other-node': () => 'another node that takes the shard, because its thread ended here',
  clock: () => 'an operator who sets the clock of this machine',
  head: () => 'an answer of the log',
  'idle-log': (node) => `an idle log, because its owner ${node} is dead or stuck`,
  'key-filter': (node) => `the archive's key filter; ${node} serves until then`,
  owner: (node) => `a hand-over by its owner ${node}`,
  fence: () => 'the fence in the log',
  'pending-appends': () => 'the pending appends',
  'new-owner': (node) => `the fence of its new owner ${node}`,
  'new-owner-link': (node) => `a link to its new owner ${node}`,
  'hand-over-request': (node) => `a hand-over request from its new owner ${node}`,
  command: () => 'its thread, which ends a pause or unloads it',
  recovery: () => 'its recovery from the log',
  operator: () => 'an operator who repairs the log',
};

/** `wallMinusMonotonicMs` converts monotonic times into times since 1970; `nameOf` returns the name of a node. */
export function explain(
  { shard, state, sinceMs, wait, problem }: Replica,
  nowMs: number,
  wallMinusMonotonicMs: number,
  nameOf: (tag: string) => string,
): Explanation {
  const wallMs = (ms: number) => Math.round(ms + wallMinusMonotonicMs);
  const waitsFor = CAUSES[wait.cause](wait.node === undefined ? 'that is not known' : nameOf(wait.node));
  const { next } = wait;
  const parts = [`shard ${shard} has been ${state} for ${seconds(nowMs - sinceMs)}`];
  if (waitsFor !== null) parts.push(`waits for ${waitsFor}`);
  if (next !== undefined) parts.push(`next: ${next.action} in ${seconds(next.atMs - nowMs)}`);
  if (problem !== undefined) parts.push(`problem: ${problem}`);
  return {
    shard,
    state,
    sinceMillis: wallMs(sinceMs),
    waitsFor,
    next: next?.action ?? null,
    nextMillis: next === undefined ? null : wallMs(next.atMs),
    problem: problem ?? null,
    sentence: parts.join('; '),
  };
}

function seconds(ms: number): string {
  return `${Math.max(0, ms / 1000).toFixed(1)} s`;
}
