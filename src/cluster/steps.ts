import type { ShardState } from '../shard/shard.js';

/** What the plan wants of this node, for one shard. */
export type Role = 'owner' | 'follower' | 'none';

/**
 * Who has written the newest fence of the log, as this node sees it.
 *
 *   unknown   the head has not been read
 *   nobody    there is none, or it has let go
 *   stuck     it says itself that it does not reach the log
 */
export type Holder = 'unknown' | 'nobody' | 'me' | 'alive' | 'stuck' | 'gone';

export interface ShardFacts {
  readonly role: Role;
  readonly local: ShardState;
  /** Shards that this node is to serve are being read from their snapshots and logs. */
  readonly bringsOwn: boolean;
  readonly holder: Holder;
  /** The head has not moved for a while. */
  readonly isStill: boolean;
  /** New bets could not be taken here: which rounds its archive has is not known, and the archive does not answer. */
  readonly lacksNames: boolean;
  /** How long this node could have taken it. */
  readonly readyForMs: number;
  /** Its log has gone on since it was stopped here: somebody has mended it, or another node has it. */
  readonly hasMoved: boolean;
  /** How long its heir has been alive without a link to this node. */
  readonly heirAwayForMs: number;
}

/**
 *   follow    bring its wallets here
 *   look      read the head of its log
 *   take      fence over the head that was seen
 *   want      ask the owner for it
 *   force     fence over whatever head there is
 *   resume    go on with what was paused
 *   release   let go of it, for whoever is to have it
 *   leave     drop what is here of it
 */
export type Step = 'follow' | 'look' | 'take' | 'want' | 'force' | 'resume' | 'release' | 'leave';

/** An owner that has not handed over by then is fenced. */
const FORCE_MS = 5000;
/** An heir that cannot be reached finds the shard released in the table. */
const HEIR_AWAY_MS = 400;

/** What to do next about a shard; undefined: nothing. It is asked again and again, and nothing depends on one answer. */
export function nextStep(facts: ShardFacts): Step | undefined {
  switch (facts.role) {
    case 'owner':
      return asOwner(facts);
    case 'follower':
      if (facts.local !== 'away') return asFormerOwner(facts);
      // After a start of all nodes nobody waits for followers, and everybody for owners.
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
      // The owner takes new bets meanwhile, which this node could not.
      if (lacksNames) return 'look';
      return readyForMs >= FORCE_MS ? 'force' : 'want';
    case 'unknown':
      return 'look';
  }
}

function asFormerOwner({ local, heirAwayForMs }: ShardFacts): Step | undefined {
  if (local === 'stopped') return 'leave';
  return local === 'serving' && heirAwayForMs >= HEIR_AWAY_MS ? 'release' : undefined;
}
