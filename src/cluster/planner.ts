import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import type { Plan, RegistryView } from '../ports/table.js';
import { archiveOf } from './archive-ids.js';
import type { ClusterShard } from './cluster-shard.js';
import { makePlan, NO_OWNER, type Owners, type PlanInput, type PlanMember } from './plan.js';
import type { Watch } from './watch.js';

export interface PlannerSettings {
  /** Desired number of followers per shard, if there are enough members. */
  readonly followers: number;
  /** Number of members that the first assignment waits for. */
  readonly expect: number;
}

export interface PlannerDeps {
  readonly tag: string;
  readonly name: string;
  readonly shards: readonly ClusterShard[];
  readonly settings: PlannerSettings;
  readonly watch: Watch;
  /** True if this node could serve the shard. */
  readonly reaches: (shard: number) => boolean;
  /** Returns false if another member has changed the registry meanwhile. */
  readonly putPlan: (version: string, plan: Plan, gone: readonly string[]) => Promise<boolean>;
  /** Called after an attempt to write an assignment. */
  readonly onPlan: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Delay per rank, so that members with the same view do not all propose an assignment. */
const RANK_MS = 100;
/**
 * Wait before the first assignment, so that the first member does not load every shard while others start or rejoin.
 */
const SETTLE_MS = 2000;
const EXPECT_MS = 60_000;
/** Members must stay the same for this long before a shard moves for balance alone. */
const CALM_MS = 10_000;
/**
 * A full member that has not served its assigned shard for this long is taken to refuse the shard. A follower serves
 * its shard within this time, even if its memory is full.
 */
const REFUSED_MS = 5000;
/**
 * All members must be able to read a format for this long before it is written, so that a member that is rolled back
 * does not meet the new format.
 */
const FORMAT_CALM_MS = 600_000;

/** A new assignment, and the dead members to remove with it. */
interface Proposal {
  readonly plan: Plan;
  readonly gone: readonly string[];
}

/**
 * Keeps the assignment in the registry up to date with the live members. Every member runs a planner. The member with
 * the lowest tag acts first, and the others then find nothing to change.
 */
export class Planner {
  private readonly startedMs: number;
  private proposedMs: number | undefined = undefined;
  private isWriting = false;
  /** Tags of the live members, joined into one text. `livingSinceMs` is the time of the last change. */
  private living = '';
  private livingSinceMs: number;
  /** When the assignment was first missing; undefined if there is one. */
  private planlessSinceMs: number | undefined = undefined;
  /**
   * True once this member has seen an assigned owner alive. The wait before a first assignment then no longer applies.
   */
  private hasSeenOwner = false;
  /** The newest format that all members can read, and since when. */
  private format = 0;
  private formatSinceMs: number;

  constructor(private readonly deps: PlannerDeps) {
    this.startedMs = deps.clock.monotonicMs();
    this.livingSinceMs = this.startedMs;
    this.formatSinceMs = this.startedMs;
  }

  /** True while an assignment differs from the one in the registry. */
  get isProposing(): boolean {
    return this.proposedMs !== undefined;
  }

  /** `lost` lists shards of this node whose thread has ended. */
  tick(view: RegistryView, lost: readonly number[]): void {
    const nowMs = this.deps.clock.monotonicMs();
    const members = this.membersIn(view, nowMs);
    this.noteMembers(members, view, nowMs);
    const proposal = this.proposal(view, members, lost, nowMs);
    if (proposal === undefined) {
      this.proposedMs = undefined;
      return;
    }
    this.proposedMs ??= nowMs;
    const rank = members.findIndex(({ tag }) => tag === this.deps.tag);
    if (rank < 0 || nowMs - this.proposedMs < rank * RANK_MS || this.isWriting) return;
    void this.write(view, proposal);
  }

  /** Assigns the shard to a member, for an operator. Returns false if the registry has changed meanwhile. */
  async moveShard(view: RegistryView, shard: number, to: string, by: string): Promise<boolean> {
    const { plan } = view;
    if (plan === undefined) return false;
    const former = plan.owners[shard] as string;
    const owners = plan.owners.with(shard, to);
    const followers = (plan.followers[shard] ?? []).filter((tag) => tag !== to);
    // Make the former owner a follower, because it still has the shard's wallets in memory.
    if (former !== NO_OWNER && !followers.includes(former)) followers.unshift(former);
    const pinned = [...plan.pinned.filter((other) => other !== shard), shard];
    const why = `shard ${shard} was moved by an operator`;
    return await this.put(view, {
      plan: { ...plan, owners, followers: plan.followers.with(shard, followers), pinned, why, by },
      gone: [],
    });
  }

  /** The live members, sorted by tag. */
  private membersIn({ members, drained }: RegistryView, nowMs: number): PlanMember[] {
    const { tag: here, watch } = this.deps;
    return [...members]
      .filter(([tag]) => tag === here || !watch.isGone(tag, nowMs))
      .map(([tag, { name, zone, isFull, hasRoom, isTimeWrong, archiveId, unreachable, isLeaving }]) => ({
        tag,
        name,
        zone,
        isFull,
        hasRoom,
        isTimeWrong,
        archiveId,
        unreachable,
        isDraining: isLeaving || drained.has(tag),
      }))
      .sort((a, b) => (a.tag < b.tag ? -1 : 1));
  }

  private noteMembers(members: readonly PlanMember[], view: RegistryView, nowMs: number): void {
    const living = members.map(({ tag }) => tag).join();
    if (living !== this.living) {
      this.living = living;
      this.livingSinceMs = nowMs;
    }
    const format = Math.min(...[...view.members.values()].map((member) => member.format));
    if (format !== this.format) {
      this.format = format;
      this.formatSinceMs = nowMs;
    }
  }

  private proposal(
    view: RegistryView,
    members: readonly PlanMember[],
    lost: readonly number[],
    nowMs: number,
  ): Proposal | undefined {
    const { plan } = view;
    const { tag, watch, shards, settings, name } = this.deps;
    const living = new Set(members.map(({ tag }) => tag));
    this.hasSeenOwner ||= plan?.owners.some((owner) => owner === tag || watch.hasLived(owner)) === true;
    this.planlessSinceMs = plan === undefined ? (this.planlessSinceMs ?? nowMs) : undefined;
    // Wait for a lost registry to refill. Members and owners write their records again within this time.
    if (this.hasSeenOwner && nowMs - (this.planlessSinceMs ?? Number.NEGATIVE_INFINITY) < SETTLE_MS) return undefined;
    if (!this.hasSeenOwner && !this.mayBegin(members, nowMs)) return undefined;
    const gone = [...view.members.keys()].filter((tag) => !living.has(tag));
    const [stuck, refused] = [this.stuckShards(view, lost), this.refusedShards(view, nowMs)];
    const before = this.hasSeenOwner && plan?.owners.length === shards.length ? plan : undefined;
    // After a full restart, `before` is undefined: an operator may have replaced the archive and accepted the loss of
    // the old one.
    const archiveId = archiveOf(
      members.map((member) => member.archiveId),
      before?.archiveId,
    );
    const planned = makePlan({
      shards: shards.length,
      members,
      ownerOf: (shard) => view.claims.get(shard)?.tag,
      before,
      followers: settings.followers,
      isCalm: this.isCalm(view, nowMs),
      stuck,
      refused,
      archiveId,
    });
    const format = this.formatFor(plan, nowMs);
    if (
      plan !== undefined &&
      gone.length === 0 &&
      isSame(planned, plan) &&
      format === plan.format &&
      archiveId === plan.archiveId
    ) {
      return undefined;
    }
    const why = whyOf(view, gone, { stuck, refused }, planned, format);
    return { plan: { ...planned, format, archiveId, why, by: name }, gone };
  }

  /**
   * True if the first assignment, or the one after a full restart, may be made. Every registered member must be known
   * to be alive or dead.
   */
  private mayBegin(members: readonly PlanMember[], nowMs: number): boolean {
    const { settings, watch, tag: here } = this.deps;
    const sinceMs = nowMs - this.startedMs;
    if (sinceMs >= EXPECT_MS) return true;
    if (members.some(({ tag }) => tag !== here && !watch.hasLived(tag))) return false;
    if (settings.expect > 1) return members.length >= settings.expect;
    return sinceMs >= SETTLE_MS;
  }

  private isCalm({ plan, claims }: RegistryView, nowMs: number): boolean {
    if (nowMs - this.livingSinceMs < CALM_MS || plan === undefined) return false;
    return plan.owners.every((owner, shard) => claims.get(shard)?.tag === owner);
  }

  /** Shards whose owners cannot reach the logs although this node can, plus `lost`. */
  private stuckShards({ claims }: RegistryView, lost: readonly number[]): Set<number> {
    const { watch, tag, shards, reaches } = this.deps;
    const stuck = new Set<number>(lost);
    for (const { shard } of shards) {
      const owner = claims.get(shard)?.tag;
      if (owner === undefined || owner === NO_OWNER || owner === tag) continue;
      // Require that this node reaches the log. Otherwise perhaps no member can, and moving the shard would not help.
      if (watch.isStuck(owner, shard) && reaches(shard)) stuck.add(shard);
    }
    return stuck;
  }

  /** Shards whose assigned owner has no memory for them or cannot reach the log. Retrying there would not help. */
  private refusedShards({ plan, claims, members }: RegistryView, nowMs: number): Set<number> {
    const { shards, watch, reaches } = this.deps;
    const refused = new Set<number>();
    for (const one of shards) {
      const { shard } = one;
      const owner = plan?.owners[shard];
      if (owner === undefined || claims.get(shard)?.tag === owner) {
        one.unserved = undefined;
        continue;
      }
      if (one.unserved?.owner !== owner) one.unserved = { owner, sinceMs: nowMs };
      const { sinceMs } = one.unserved;
      const member = members.get(owner);
      const isFull = member?.isFull && !member.hasRoom && nowMs - sinceMs >= REFUSED_MS;
      if (isFull || (watch.isStuck(owner, shard) && reaches(shard))) refused.add(shard);
    }
    return refused;
  }

  private formatFor(plan: Plan | undefined, nowMs: number): number {
    if (plan === undefined) return this.format;
    const isNew = this.format > plan.format && nowMs - this.formatSinceMs >= FORMAT_CALM_MS;
    return isNew ? this.format : plan.format;
  }

  private async write(view: RegistryView, proposal: Proposal): Promise<void> {
    const { log } = this.deps;
    this.isWriting = true;
    try {
      if (await this.put(view, proposal)) log.info({ why: proposal.plan.why }, 'shards planned');
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'cannot write the shard assignment');
    } finally {
      this.isWriting = false;
    }
  }

  private async put({ version }: RegistryView, { plan, gone }: Proposal): Promise<boolean> {
    const isWritten = await this.deps.putPlan(version, plan, gone);
    if (isWritten) this.proposedMs = undefined;
    this.deps.onPlan();
    return isWritten;
  }
}

function isSame(a: Owners, b: Owners): boolean {
  return (
    a.owners.every((owner, shard) => owner === b.owners[shard]) &&
    a.followers.every((tags, shard) => tags.join() === b.followers[shard]?.join())
  );
}

/** A human-readable reason for a new assignment. */
function whyOf(
  { plan, members, drained }: RegistryView,
  gone: readonly string[],
  { stuck, refused }: Pick<PlanInput, 'stuck' | 'refused'>,
  planned: Owners,
  format: number,
): string {
  const nameOf = (tag: string) => members.get(tag)?.name ?? tag;
  if (plan === undefined) return 'the first assignment';
  if (gone.length > 0) return `${gone.map(nameOf).join(', ')} gone`;
  const moved = planned.owners.flatMap((owner, shard) => (owner === plan.owners[shard] ? [] : [shard]));
  if (moved.some((shard) => stuck.has(shard))) return 'an owner cannot reach its logs';
  if (moved.some((shard) => refused.has(shard))) return 'the assigned node cannot take over a shard';
  const isLeaving = (tag: string) => members.get(tag)?.isLeaving === true || drained.has(tag);
  const left = new Set(moved.map((shard) => plan.owners[shard] as string).filter(isLeaving));
  if (left.size > 0) return `${[...left].map(nameOf).join(', ')} drained`;
  if (moved.some((shard) => plan.owners[shard] === NO_OWNER)) return 'a shard had no owner';
  if (moved.length > 0) return 'balance';
  if (format !== plan.format) return `format ${format}`;
  return isSame(planned, plan) ? 'archive' : 'followers';
}
