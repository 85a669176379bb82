import type { Effect } from './effect.js';
import type { Facts } from './facts.js';
import { hasMoved } from './observe.js';
import { become, type Outcome, pause, settle, take, waitFor, waiting } from './outcome.js';
import type { Replica } from './replica.js';
import { tagOf } from './tag-of.js';
import { TIMERS } from './timers.js';

/**
 * Begins the next action of a replica without a running command, or records for what it waits. Runs at every tick, so
 * no single decision is critical.
 */
export function decide(replica: Replica, facts: Facts): Outcome {
  if (replica.isEnding) return ending(replica, facts);
  if (!facts.isPlanned) return [waiting(replica, 'assignment'), []];
  // Read the head as soon as the owner may be dead, because that shows sooner that the log is idle.
  const [ahead, looked] = facts.isOwnerSuspect ? look(replica, facts) : [replica, []];
  const [next, effects] = byRole(ahead, facts);
  return [next, [...looked, ...effects]];
}

function byRole(replica: Replica, facts: Facts): Outcome {
  const { nowMs, role } = facts;
  if (nowMs < replica.restUntilMs) {
    const next = { action: 'try again', atMs: replica.restUntilMs };
    return [waiting(replica, 'retry', undefined, next), []];
  }
  if (facts.local.state === 'failing') return recover(replica, facts);
  if (role === 'owner') return asOwner(replica, facts);
  if (replica.state === 'remote' && role === 'follower') return load(replica, facts);
  if (replica.state === 'standby' && role === 'none') return leave(replica, facts);
  return asFormerOwner(replica, facts);
}

function ending(replica: Replica, facts: Facts): Outcome {
  if (replica.state === 'serving' && replica.epoch !== undefined && facts.nowMs >= replica.restUntilMs)
    return pause(replica, undefined, replica.epoch, facts);
  return [waiting(replica, 'nothing'), []];
}

function asOwner(replica: Replica, facts: Facts): Outcome {
  switch (replica.state) {
    case 'remote':
      return load(replica, facts);
    case 'standby':
      return takeOrAsk(replica, facts);
    case 'paused':
      return settle(replica, { type: 'resume', shard: replica.shard }, facts);
    case 'stopped':
      if (hasMoved(replica, facts)) return leave(replica, facts);
      return look(waiting(replica, 'operator'), facts);
    case 'recovering':
      return [waiting(replica, 'recovery'), []];
    default:
      return [waiting(replica, facts.local.pendingAppendMs >= TIMERS.stuck.ms ? 'pending-appends' : 'nothing'), []];
  }
}

function asFormerOwner(replica: Replica, facts: Facts): Outcome {
  const { newOwner, nowMs } = facts;
  if (replica.state === 'stopped') return leave(replica, facts);
  if (replica.state === 'recovering') return [waiting(replica, 'recovery'), []];
  if (newOwner === undefined) return [waiting(replica, 'nothing'), []];
  if (replica.state !== 'serving' || replica.epoch === undefined) {
    return [waiting(replica, 'elsewhere', newOwner.tag), []];
  }
  const { unlinkedSinceMs } = replica;
  if (unlinkedSinceMs === undefined) return [waiting(replica, 'hand-over-request', newOwner.tag), []];
  const atMs = Math.max(unlinkedSinceMs + TIMERS.unlinked.ms, replica.keptUntilMs);
  if (nowMs >= atMs) return pause(replica, undefined, replica.epoch, facts);
  return [waiting(replica, 'new-owner-link', newOwner.tag, { action: 'release the shard in the registry', atMs }), []];
}

/**
 * Takes this node's own log over again after a failed assertion, even if another node is assigned: a hand-over needs an
 * owner.
 */
function recover(replica: Replica, facts: Facts): Outcome {
  const { shard, othersEpoch = 0 } = replica;
  const { local, acknowledged, nowMs } = facts;
  const own = local.head?.lsn.epoch ?? 0;
  // Another node has served since. The log may not show it, if a failover lost that node's fence.
  if (Math.max(othersEpoch, acknowledged?.lsn.epoch ?? 0) > own) {
    return settle(replica, { type: 'abandon', shard }, facts);
  }
  return [
    become(replica, 'recovering', nowMs, { command: 'recover', wait: waitFor('recovery') }),
    [{ type: 'command', move: { type: 'recover', shard } }],
  ];
}

function load(replica: Replica, facts: Facts): Outcome {
  const { shard, lostUntilMs } = replica;
  const { nowMs, role, loadsOwn, hasOtherTaker, isUnserved } = facts;
  if (nowMs < lostUntilMs && hasOtherTaker) {
    return [waiting(replica, 'other-node', undefined, { action: 'load the shard', atMs: lostUntilMs }), []];
  }
  // After a full restart, owners load first, because callbacks wait for owners but not for followers.
  if (role === 'follower' && loadsOwn) return [waiting(replica, 'own-shards'), []];
  const type = isUnserved ? 'bring' : 'follow';
  return [
    become(replica, 'loading', nowMs, { command: type, isUrgent: isUnserved, wait: waitFor('load') }),
    [{ type: 'command', move: { type, shard } }],
  ];
}

function leave(replica: Replica, facts: Facts): Outcome {
  return settle({ ...replica, problem: undefined }, { type: 'leave', shard: replica.shard }, facts);
}

/** Takes a shard that no live owner has, and asks a live owner for it. */
function takeOrAsk(replica: Replica, facts: Facts): Outcome {
  const { holder, head, isLogIdle, isClockSane, local } = facts;
  if (!isClockSane) return look(waiting(replica, 'clock'), facts);
  switch (holder) {
    case 'nobody':
    case 'me':
      return take(replica, undefined, 'taken', facts);
    case 'gone':
    case 'stuck':
      if (isLogIdle) return take(replica, head, 'taken', facts);
      return look(waiting(replica, 'idle-log', head && tagOf(head)), facts);
    case 'alive':
      // Leave the shard to its owner for now, because the owner can accept new bets and this node could not.
      if (local.lacksNames) return leftToOwner(replica, facts);
      if (facts.nowMs >= forceMs(replica, facts)) return take(replica, undefined, 'taken', facts);
      return ask(replica, facts);
    case 'unknown':
      return look(waiting(replica, 'head'), facts);
  }
}

const forceMs = ({ askedSinceMs }: Replica, { nowMs }: Facts) => (askedSinceMs ?? nowMs) + TIMERS.force.ms;

function leftToOwner(replica: Replica, facts: Facts): Outcome {
  const { namelessSinceMs, isNamelessLogged } = replica;
  const isDue = !isNamelessLogged && facts.nowMs - (namelessSinceMs ?? facts.nowMs) >= TIMERS.names.ms;
  const owner = facts.head && tagOf(facts.head);
  const [looked, effects] = look(
    waiting({ ...replica, isNamelessLogged: isNamelessLogged || isDue }, 'key-filter', owner),
    facts,
  );
  return [looked, isDue ? [...effects, { type: 'left-to-owner' }] : effects];
}

function ask(replica: Replica, facts: Facts): Outcome {
  const { nowMs, head, local } = facts;
  const owner = head && tagOf(head);
  const atMs = forceMs(replica, facts);
  const [looked, effects] = look(waiting(replica, 'owner', owner, { action: 'fence the log', atMs }), facts);
  if (owner === undefined || nowMs < looked.wantFromMs) return [looked, effects];
  const want: Effect = { type: 'want', to: owner, sequence: local.head?.lsn.sequence ?? 0 };
  const asked = { askedSinceMs: looked.askedSinceMs ?? nowMs, wantFromMs: nowMs + TIMERS.want.ms };
  return [{ ...looked, ...asked }, [...effects, want]];
}

function look(replica: Replica, { nowMs }: Facts): Outcome {
  if (nowMs < replica.lookFromMs) return [replica, []];
  return [{ ...replica, lookFromMs: nowMs + TIMERS.look.ms }, [{ type: 'look' }]];
}
