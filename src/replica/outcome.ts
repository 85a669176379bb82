import type { Head } from '../ports/wal.js';
import type { Move } from '../threads/shards.js';
import type { Effect } from './effect.js';
import type { Facts } from './facts.js';
import type { Cause, Replica, ReplicaState, Wait } from './replica.js';

/** A replica after an input, and what the runner must do. */
export type Outcome = readonly [Replica, readonly Effect[]];

export function unchanged(replica: Replica): Outcome {
  return [replica, []];
}

/** Changes the state. `sinceMs` stays if it is the same state. */
export function become(
  replica: Replica,
  state: ReplicaState,
  nowMs: number,
  changes: Partial<Omit<Replica, 'shard' | 'state' | 'sinceMs'>>,
): Replica {
  const sinceMs = replica.state === state ? replica.sinceMs : nowMs;
  return { ...replica, ...changes, state, sinceMs };
}

export function waitFor(cause: Cause, node?: string, next?: Wait['next']): Wait {
  return { cause, node, next };
}

/** Sets what an idle replica is waiting for. */
export function waiting(replica: Replica, cause: Cause, node?: string, next?: Wait['next']): Replica {
  return { ...replica, wait: waitFor(cause, node, next) };
}

/** Runs a command that ends a pause, unloads, abandons or stops the shard. */
export function settle(replica: Replica, move: Move, { nowMs }: Facts): Outcome {
  const isGivenUp = move.type !== 'resume';
  const changes = {
    command: move.type,
    wait: waitFor('command'),
    isHeld: replica.isHeld && !isGivenUp,
    epoch: undefined,
  };
  const unserve: Effect[] = replica.epoch === undefined ? [] : [{ type: 'unserve' }];
  return [become(replica, 'settling', nowMs, changes), [...unserve, { type: 'command', move }]];
}

/** Pauses a serving shard: for the node `to`, or for any node that reads the release in the registry. */
export function pause(replica: Replica, to: string | undefined, epoch: number, { nowMs }: Facts): Outcome {
  const { shard } = replica;
  const handover = { to, sinceMs: nowMs, epoch, head: undefined };
  const changes = { command: 'pause', handover, epoch: undefined, wait: waitFor('pending-appends') } as const;
  return [
    become(replica, 'pausing', nowMs, changes),
    [{ type: 'unserve' }, { type: 'command', move: { type: 'pause', shard } }],
  ];
}

/** Fences the log: over an exact head, or over any head if `over` is undefined. */
export function take(
  replica: Replica,
  over: Head | undefined,
  how: Replica['how'],
  { nowMs, acknowledged }: Facts,
  untilMs = Number.POSITIVE_INFINITY,
): Outcome {
  const { shard } = replica;
  const move: Move = { type: 'take', shard, over, acknowledged: acknowledged, untilMs };
  const changes = { command: 'take', how, wait: waitFor('fence') } as const;
  return [become(replica, 'taking', nowMs, changes), [{ type: 'command', move }]];
}
