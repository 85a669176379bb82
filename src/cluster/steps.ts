import type { ShardState } from '../engine/shard.js';

/** This node's role for one shard in the assignment. */
export type Role = 'owner' | 'follower' | 'none';

/**
 * Writer of the log's newest fence, as this node sees it.
 *
 *   `unknown`  the head has not been read
 *   `nobody`   there is no fence, or its writer has released the shard
 *   `stuck`    the writer reports that it cannot reach the log
 */
export type Holder = 'unknown' | 'nobody' | 'me' | 'alive' | 'stuck' | 'gone';

export interface ShardFacts {
  readonly role: Role;
  readonly local: ShardState;
  /** True if this node is loading shards that it should serve. */
  readonly bringsOwn: boolean;
  readonly holder: Holder;
  /** True if the head has not moved for a while. */
  readonly isStill: boolean;
  /**
   * True if this node could not accept new bets, because it does not have the archive's key filter and the archive does
   * not answer.
   */
  readonly lacksNames: boolean;
  /** How long this node has been able to take the shard. */
  readonly readyForMs: number;
  /**
   * True if the log has grown since the shard was stopped here: an operator has repaired it, or another node owns it.
   */
  readonly hasMoved: boolean;
  /** How long the new owner has been alive without a link to this node. */
  readonly newOwnerUnlinkedForMs: number;
}

/**
 * Actions for a shard.
 *
 *   `follow`   load the shard's wallets, and keep them up to date
 *   `look`     read the head of the log
 *   `take`     fence over the last head that was read
 *   `want`     request a handover from the owner
 *   `force`    fence over any head
 *   `resume`   end the pause
 *   `release`  relinquish the shard to its new owner
 *   `leave`    unload the shard
 */
export type Step = 'follow' | 'look' | 'take' | 'want' | 'force' | 'resume' | 'release' | 'leave';

/** An owner that has not handed over the shard after this time is fenced. */
const FORCE_MS = 5000;
/**
 * After this time without a link, the old owner releases the shard in the registry, where the new owner sees the
 * release.
 */
const NEW_OWNER_UNLINKED_MS = 400;

/**
 * The next action for a shard; undefined if there is none. The function is called repeatedly, so no single result is
 * critical.
 */
export function nextStep(facts: ShardFacts): Step | undefined {
  switch (facts.role) {
    case 'owner':
      return asOwner(facts);
    case 'follower':
      if (facts.local !== 'away') return asFormerOwner(facts);
      // After a full restart, owners load first, because callbacks wait for owners but not for followers.
      return facts.bringsOwn ? undefined : 'follow';
    case 'none':
      return facts.local === 'following' ? 'leave' : asFormerOwner(facts);
  }
}

function asOwner({ local, holder, isStill, lacksNames, readyForMs, hasMoved }: ShardFacts): Step | undefined {
  if (local === 'away') return 'follow';
  if (local === 'stopped') return hasMoved ? 'leave' : 'look';
  if (local === 'handing') return 'resume';
  if (local !== 'following') return undefined;
  switch (holder) {
    case 'nobody':
    case 'me':
      return 'take';
    case 'gone':
    case 'stuck':
      return isStill ? 'take' : 'look';
    case 'alive':
      // Leave the shard to its owner for now, because the owner can accept new bets and this node could not.
      if (lacksNames) return 'look';
      return readyForMs >= FORCE_MS ? 'force' : 'want';
    case 'unknown':
      return 'look';
  }
}

function asFormerOwner({ local, newOwnerUnlinkedForMs }: ShardFacts): Step | undefined {
  if (local === 'stopped') return 'leave';
  return local === 'serving' && newOwnerUnlinkedForMs >= NEW_OWNER_UNLINKED_MS ? 'release' : undefined;
}
