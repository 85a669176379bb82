import { assert, must, unreachable } from '../base/assert.js';
import type { MoveResult } from '../threads/shards.js';
import { decide } from './decide.js';
import type { Effect } from './effect.js';
import type { Facts } from './facts.js';
import type { Input } from './input.js';
import { observe } from './observe.js';
import { become, type Outcome, pause, settle, take, unchanged, waitFor } from './outcome.js';
import type { Replica } from './replica.js';
import { failed, lacksEntries } from './retry.js';
import { LAG_MAX, TIMERS } from './timers.js';

type Ended = Extract<Input, { type: 'result' }>;

/**
 * Computes a replica after an input, and the effects of the input. The function has no clock, no I/O and no promise;
 * times are in the facts. `test/replica/transitions.txt` lists every pair of state and input.
 */
export function transition(replica: Replica, input: Input, facts: Facts): Outcome {
  switch (input.type) {
    case 'tick':
      return tick(replica, facts);
    case 'result':
      assert(replica.command === input.of, 'a result belongs to the running command');
      return ended({ ...replica, command: undefined }, input, facts);
    case 'wanted':
      return wanted(replica, input, facts);
    case 'offered':
      return offered(replica, input, facts);
    case 'owned':
      return owned(replica, input, facts);
    case 'fenced':
      return fenced({ ...replica, isHeld: false }, facts);
    case 'recorded':
      return recorded(replica, facts);
    case 'not-sent':
      return replica.state === 'offered' ? endPause(replica, 'resume', facts) : unchanged(replica);
    case 'confirm':
      if (replica.epoch === undefined) return unchanged(replica);
      return [replica, [{ type: 'notify', move: { type: 'confirm', shard: replica.shard } }]];
    case 'end':
      return unchanged({ ...replica, isEnding: true });
    default:
      return unreachable(input);
  }
}

function tick(replica: Replica, facts: Facts): Outcome {
  switch (replica.state) {
    case 'loading':
      if (replica.isUrgent || !facts.isUnserved) return unchanged(replica);
      return [{ ...replica, isUrgent: true }, [{ type: 'notify', move: { type: 'bring', shard: replica.shard } }]];
    case 'offered':
      // The thread would resume the shard by its own timer, so a process that ends releases the shard before that.
      if (replica.isEnding) return giveUp(replica, 'release', facts);
      if (facts.nowMs < mustHandover(replica).sinceMs + TIMERS.handover.ms) return unchanged(replica);
      return endPause(replica, 'resume', facts);
    case 'taking':
    case 'pausing':
    case 'settling':
      return unchanged(replica);
    default: {
      // A recovery runs.
      if (replica.command !== undefined) return unchanged(replica);
      const [seen, effects] = observe(replica, facts);
      const [decided, more] = decide(seen, facts);
      return [decided, [...effects, ...more]];
    }
  }
}

/** Handles the end of a command. The next tick, which follows at once, observes the thread and decides. */
function ended(replica: Replica, { of, result }: Ended, facts: Facts): Outcome {
  assert(result.type !== 'still' || replica.state === 'pausing', 'only a pause ends in a head');
  const canTake = replica.state === 'taking' || replica.state === 'recovering';
  assert(result.type !== 'taken' || canTake, 'only a take-over or a recovery ends in a fence');
  switch (replica.state) {
    case 'loading':
      if (result.type === 'failed') return failed(become(replica, 'remote', facts.nowMs, {}), result, facts);
      return unchanged(become(replica, 'standby', facts.nowMs, { problem: undefined, failures: 0, isUrgent: false }));
    case 'taking':
      return taken(replica, result, facts);
    case 'pausing':
      return paused(replica, result, facts);
    case 'settling':
      return settled(replica, { type: 'result', of, result }, facts);
    case 'recovering':
      return recovered(replica, result, facts);
    default:
      assert(false, 'only five states run a command');
  }
}

function taken(replica: Replica, result: MoveResult, facts: Facts): Outcome {
  const { nowMs } = facts;
  switch (result.type) {
    case 'taken': {
      const { epoch } = result.head.lsn;
      const changes = { epoch, isHeld: true, releasedEpoch: undefined, lostUntilMs: nowMs, wait: waitFor('nothing') };
      const healthy = { problem: undefined, failures: 0, shortSinceMs: undefined };
      const took: Effect = { type: 'took', how: replica.how, tookMs: nowMs - replica.sinceMs, epoch };
      return [become(replica, 'serving', nowMs, { ...changes, ...healthy }), [{ type: 'serve', epoch }, took]];
    }
    case 'short':
      return lacksEntries(become(replica, 'standby', nowMs, {}), result.head, facts);
    case 'failed':
      return failed(become(replica, 'standby', nowMs, {}), result, facts);
    default:
      return unchanged(become(replica, 'standby', nowMs, {}));
  }
}

function recovered(replica: Replica, result: MoveResult, facts: Facts): Outcome {
  const { nowMs } = facts;
  if (result.type !== 'taken') {
    // The thread has stopped or unloaded the shard, or has ended.
    const isHeld = replica.isHeld && result.type === 'failed';
    return observe({ ...replica, isHeld, restUntilMs: nowMs + TIMERS.retry.ms }, facts);
  }
  const { epoch } = result.head.lsn;
  const served = become(replica, 'serving', nowMs, { epoch, isHeld: true, wait: waitFor('nothing') });
  // The fence follows this node's own entries, because a failover lost the fence of the node that has served since.
  if ((replica.othersEpoch ?? 0) >= epoch) return settle(served, { type: 'abandon', shard: replica.shard }, facts);
  return [{ ...served, problem: undefined, failures: 0 }, [{ type: 'serve', epoch }]];
}

function paused(replica: Replica, result: MoveResult, facts: Facts): Outcome {
  const { nowMs, newOwner, local } = facts;
  const handover = mustHandover(replica);
  const { to } = handover;
  if (to === undefined || replica.isEnding) {
    if (result.type === 'still') return giveUp(replica, 'release', facts);
    // A shard with pending appends cannot be released. Abandon it if an append has been pending for a long time,
    // because the append may never complete.
    if (local.pendingAppendMs >= TIMERS.stuck.ms) return giveUp(replica, 'abandon', facts);
    return endPause(replica, 'resume', facts);
  }
  const isWilling = newOwner?.tag === to && newOwner.isLinked && newOwner.clockAheadMs !== undefined;
  if (result.type !== 'still' || !isWilling) return endPause(replica, 'resume', facts);
  const { head } = result;
  const untilMs = handover.sinceMs + TIMERS.offer.ms + must(newOwner.clockAheadMs, 'a willing node has a clock');
  const wait = waitFor('new-owner', to, { action: 'resume', atMs: handover.sinceMs + TIMERS.handover.ms });
  return [
    become(replica, 'offered', nowMs, { handover: { ...handover, head }, wait }),
    [{ type: 'offer', to, head, untilMs }],
  ];
}

/** Handles the end of a pause or of a shard. */
function settled(replica: Replica, { of, result }: Ended, facts: Facts): Outcome {
  const { nowMs, local } = facts;
  const { handover } = replica;
  // A command fails if the thread has ended. Without a pause, the command would repeat endlessly.
  const restUntilMs = result.type === 'failed' ? nowMs + TIMERS.retry.ms : replica.restUntilMs;
  const calm = { handover: undefined, restUntilMs };
  if (handover === undefined) return observe({ ...replica, ...calm }, facts);
  // The thread may have resumed the shard before it got the release.
  const isKept = local.state === 'serving' || local.state === 'handing';
  if (handover.to === undefined && (of === 'release' || of === 'abandon') && !isKept) {
    const [seen, effects] = observe({ ...replica, ...calm, releasedEpoch: handover.epoch }, facts);
    return [seen, [...effects, { type: 'record-release', epoch: handover.epoch, isRepeated: false }]];
  }
  const isHanded = !replica.isHeld && !isKept;
  const keptUntilMs = isHanded ? replica.keptUntilMs : nowMs + TIMERS.kept.ms;
  const [seen, effects] = observe({ ...replica, ...calm, keptUntilMs }, facts);
  if (handover.to === undefined) return [seen, effects];
  const paused: Effect = { type: 'paused', pausedMs: nowMs - handover.sinceMs, isHanded };
  return [seen, [paused, ...effects]];
}

function wanted(replica: Replica, { by, sequence }: Extract<Input, { type: 'wanted' }>, facts: Facts): Outcome {
  const { newOwner, local, nowMs, mayHandOver } = facts;
  const isServing = replica.state === 'serving' && local.state === 'serving' && replica.epoch !== undefined;
  const isDue = isServing && newOwner?.tag === by;
  const isNear = (local.head?.lsn.sequence ?? 0) - sequence <= LAG_MAX;
  if (!isDue || !isNear || !mayHandOver || nowMs < replica.keptUntilMs || replica.isEnding) return unchanged(replica);
  return pause(replica, by, must(replica.epoch, 'a serving shard has an epoch'), facts);
}

function offered(replica: Replica, { head, untilMs }: Extract<Input, { type: 'offered' }>, facts: Facts): Outcome {
  const canTake = (replica.state === 'remote' || replica.state === 'standby') && facts.nowMs < untilMs;
  if (!canTake || facts.role !== 'owner' || replica.isEnding) return unchanged(replica);
  return take(replica, head, 'handed-over', facts, untilMs);
}

function owned(replica: Replica, { by, epoch }: Extract<Input, { type: 'owned' }>, facts: Facts): Outcome {
  const { handover, shard } = replica;
  if (replica.state === 'offered') {
    const { to, head } = mustHandover(replica);
    const isNew = by === to && head !== undefined && epoch > head.lsn.epoch;
    return isNew ? endPause(replica, 'release', facts) : unchanged(replica);
  }
  if (replica.state === 'recovering') {
    return unchanged({ ...replica, othersEpoch: Math.max(replica.othersEpoch ?? 0, epoch) });
  }
  if (handover !== undefined || replica.epoch === undefined || replica.epoch >= epoch) return unchanged(replica);
  // Do not confirm ownership with the log. After a failover that lost the other owner's fence, the log would still name
  // this node.
  return settle(replica, { type: 'abandon', shard }, facts);
}

/** The thread unloads a fenced shard on its own. */
function fenced(replica: Replica, { nowMs }: Facts): Outcome {
  if (replica.epoch === undefined) return unchanged(replica);
  const changes = { epoch: undefined, wait: waitFor('recovery') };
  return [become(replica, 'recovering', nowMs, changes), [{ type: 'unserve' }]];
}

/** Repeats ownership records and releases that the registry lacks. */
function recorded(replica: Replica, { recorded: found, me }: Facts): Outcome {
  const { epoch, releasedEpoch } = replica;
  if (releasedEpoch !== undefined) {
    const isNewer = found !== undefined && found.epoch > releasedEpoch;
    const isReleased = found?.epoch === releasedEpoch && found.tag !== me;
    if (isNewer || isReleased) return unchanged({ ...replica, releasedEpoch: undefined });
    return [replica, [{ type: 'record-release', epoch: releasedEpoch, isRepeated: true }]];
  }
  if (epoch === undefined || (found !== undefined && found.epoch >= epoch)) return unchanged(replica);
  return [replica, [{ type: 'record', epoch }]];
}

function endPause(replica: Replica, type: 'resume' | 'release', facts: Facts): Outcome {
  return settle(replica, { type, shard: replica.shard }, facts);
}

/** Gives up a paused shard without a confirmation. The registry shows it once the thread has carried it out. */
function giveUp(replica: Replica, type: 'release' | 'abandon', facts: Facts): Outcome {
  const handover = { ...mustHandover(replica), to: undefined };
  return settle({ ...replica, handover }, { type, shard: replica.shard }, facts);
}

function mustHandover({ handover }: Replica) {
  return must(handover, 'a paused shard has a hand-over');
}
