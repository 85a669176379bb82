import type { Claim, Plan, TableView } from './table.js';

/** A shard that went from one node to another. */
export interface Move {
  readonly shard: number;
  /** Names of nodes; null: nobody had it, as far as was seen. */
  readonly from: string | null;
  readonly to: string;
  /** Of the log, since its new owner has it. */
  readonly epoch: number;
  /** When it was seen to be served there: milliseconds since 1970. */
  readonly timeMs: number;
  /** Since the plan wanted it there; null where no plan was seen to. */
  readonly tookMs: number | null;
  /** What made that plan, and who; null as above. */
  readonly why: string | null;
  readonly by: string | null;
}

interface Owner {
  readonly name: string;
  readonly claim: Claim;
}

/** Who is to have a shard, and since when; undefined: since before it was looked at. */
interface Planned extends Pick<Plan, 'why' | 'by'> {
  readonly tag: string;
  readonly sinceMs: number | undefined;
}

const MOVES_MAX = 500;

/** The newest moves that a member has seen in the table since it joined, for people. They are kept nowhere else. */
export class MoveHistory {
  private readonly moves: Move[] = [];
  private readonly owners = new Map<number, Owner>();
  private readonly planned = new Map<number, Planned>();
  private hasBegun = false;

  /** Newest first. */
  get all(): readonly Move[] {
    return this.moves.toReversed();
  }

  /** Looks at what is new in the table. Times of the system: people compare them. */
  note(view: TableView, nowMs: number): void {
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

  private noteClaim(shard: number, claim: Claim, { members }: TableView, nowMs: number): void {
    const former = this.owners.get(shard);
    // Who lets go of a shard had it until somebody else has.
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
