import type { Claim, Plan, RegistryView } from '../ports/table.js';

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

interface Owner {
  readonly name: string;
  readonly claim: Claim;
}

/**
 * Assigned owner of a shard, and since when. The time is undefined if it is from before this process first read the
 * registry.
 */
interface Planned extends Pick<Plan, 'why' | 'by'> {
  readonly tag: string;
  readonly sinceMs: number | undefined;
}

const MOVES_MAX = 500;

/**
 * The human-readable history of the newest moves that this member has seen in the registry since it joined. It is kept
 * only in memory.
 */
export class MoveHistory {
  private readonly moves: Move[] = [];
  private readonly owners = new Map<number, Owner>();
  private readonly planned = new Map<number, Planned>();
  private hasBegun = false;

  /** All moves, newest first. */
  get all(): readonly Move[] {
    return this.moves.toReversed();
  }

  /** Records changes in the registry. Takes wall-clock times, which operators can compare between nodes. */
  note(view: RegistryView, nowMs: number): void {
    this.notePlan(view.plan, nowMs);
    for (const [shard, claim] of view.claims) this.noteClaim(shard, claim, view, nowMs);
    this.hasBegun = true;
  }

  private notePlan(plan: Plan | undefined, nowMs: number): void {
    for (const [shard, tag] of plan?.owners.entries() ?? []) {
      if (plan === undefined || this.planned.get(shard)?.tag === tag) continue;
      const { why, by } = plan;
      this.planned.set(shard, { tag, why, by, sinceMs: this.hasBegun ? nowMs : undefined });
    }
  }

  private noteClaim(shard: number, claim: Claim, { members }: RegistryView, nowMs: number): void {
    const former = this.owners.get(shard);
    // Ignore a release: the former owner counts as the owner until another member owns the shard.
    if (claim.tag === '' || claim.epoch <= (former?.claim.epoch ?? 0)) return;
    const name = members.get(claim.tag)?.name ?? claim.tag;
    this.owners.set(shard, { name, claim });
    if (!this.hasBegun || former?.claim.tag === claim.tag) return;
    const planned = this.planned.get(shard);
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
