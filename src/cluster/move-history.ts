import type { Claim, Plan, RegistryView } from '../ports/table.js';
import type { ClusterShard } from './cluster-shard.js';

/** A shard's move from one node to another. */
export interface Move {
  readonly shard: number;
  /** The name of the former owner; null if it is not known. */
  readonly from: string | null;
  readonly to: string;
  /** The epoch in which the new owner serves the log. */
  readonly epoch: number;
  /** The time when this node saw that the new owner served the shard, in ms since 1970. */
  readonly timeMs: number;
  /** The time since the assignment changed, in ms; null if this node did not see the change. */
  readonly tookMs: number | null;
  /** The reason for the assignment to the new owner; null if this node did not see the change. */
  readonly why: string | null;
  /** Author of the assignment; null if this node did not see the change. */
  readonly by: string | null;
}

const MOVES_MAX = 500;

/**
 * The human-readable history of the newest moves that this member has seen in the registry since it joined. It is kept
 * only in memory.
 */
export class MoveHistory {
  private readonly moves: Move[] = [];
  private hasBegun = false;

  constructor(private readonly shards: readonly ClusterShard[]) {}

  /** All moves, newest first. */
  get all(): readonly Move[] {
    return this.moves.toReversed();
  }

  /** Records changes in the registry. Takes wall-clock times, which operators can compare between nodes. */
  note(view: RegistryView, nowMs: number): void {
    this.notePlan(view.plan, nowMs);
    for (const [shard, claim] of view.claims) {
      const one = this.shards[shard];
      if (one !== undefined) this.noteClaim(one, claim, view, nowMs);
    }
    this.hasBegun = true;
  }

  private notePlan(plan: Plan | undefined, nowMs: number): void {
    if (plan === undefined) return;
    const { owners, why, by } = plan;
    for (const [shard, tag] of owners.entries()) {
      const one = this.shards[shard];
      if (one === undefined || one.planned?.tag === tag) continue;
      one.planned = { tag, why, by, sinceMs: this.hasBegun ? nowMs : undefined };
    }
  }

  private noteClaim(one: ClusterShard, claim: Claim, { members }: RegistryView, nowMs: number): void {
    const { shard, owner: former, planned } = one;
    // Ignore a release: the former owner counts as the owner until another member owns the shard.
    if (claim.tag === '' || claim.epoch <= (former?.claim.epoch ?? 0)) return;
    const name = members.get(claim.tag)?.name ?? claim.tag;
    one.owner = { name, claim };
    if (!this.hasBegun || former?.claim.tag === claim.tag) return;
    const wanted = planned?.tag === claim.tag && planned.sinceMs !== undefined ? planned : undefined;
    this.moves.push({
      shard,
      from: former?.name ?? null,
      to: name,
      epoch: claim.epoch,
      timeMs: nowMs,
      tookMs: wanted?.sinceMs === undefined ? null : Math.max(0, nowMs - wanted.sinceMs),
      why: wanted?.why ?? null,
      by: wanted?.by ?? null,
    });
    if (this.moves.length > MOVES_MAX) this.moves.shift();
  }
}
