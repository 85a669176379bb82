import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { archiveOf } from './archive-ids.js';
import { makePlan, NOBODY, type Owners, type PlanInput, type PlanMember } from './plan.js';
import type { Plan, TableView } from './table.js';
import type { Watch } from './watch.js';

export interface PlannerSettings {
  /** Of each shard, where there are members enough. */
  readonly followers: number;
  /** Members that the first plan waits for. */
  readonly expect: number;
}

export interface PlannerDeps {
  readonly tag: string;
  readonly name: string;
  readonly shardCount: number;
  readonly settings: PlannerSettings;
  readonly watch: Watch;
  /** Whether this node could serve the shard. */
  readonly reaches: (shard: number) => boolean;
  /** False when somebody else has changed the table meanwhile. */
  readonly putPlan: (version: string, plan: Plan, gone: readonly string[]) => Promise<boolean>;
  /** There is a new one. */
  readonly onPlan: () => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Between two members that see the same and would both propose. */
const RANK_MS = 100;
/** A first member must not load everything while others start, or join again. */
const SETTLE_MS = 2000;
const EXPECT_MS = 60_000;
/** No shard moves for balance alone before members have been the same for so long. */
const CALM_MS = 10_000;
/** Who follows a shard has it by then, full or not. */
const REFUSED_MS = 5000;
/** All members have read a format for so long before it is written: one that was rolled back must not meet it. */
const FORMAT_CALM_MS = 600_000;

/** What has to change. */
interface Proposal {
  readonly plan: Plan;
  readonly gone: readonly string[];
}

/**
 * Sees to it that the plan in the table suits the members that live. Every member does; the one with the least tag comes
 * first, and what it writes the others find right.
 */
export class Planner {
  private readonly startedMs: number;
  private proposedMs: number | undefined = undefined;
  private isWriting = false;
  /** The members that live, as one text, and since when. */
  private living = '';
  private livingSinceMs: number;
  /** Since when there has been no plan; undefined while there is one. */
  private planlessSinceMs: number | undefined = undefined;
  /** It was there before the owners went: there is nobody to wait for. */
  private hasSeenOwner = false;
  /** By shard, who is to have it and does not serve it, and since when. */
  private readonly unserved = new Map<number, { readonly owner: string; readonly sinceMs: number }>();
  /** Since when all members read the same newest format. */
  private format = 0;
  private formatSinceMs: number;

  constructor(private readonly deps: PlannerDeps) {
    this.startedMs = deps.clock.monotonicMs();
    this.livingSinceMs = this.startedMs;
    this.formatSinceMs = this.startedMs;
  }

  /** `lost`: shards of this node whose thread has ended. */
  tick(view: TableView, lost: readonly number[]): void {
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

  /** An operator wants the shard there. False when the table has changed meanwhile. */
  async moveShard(view: TableView, shard: number, to: string, by: string): Promise<boolean> {
    const { plan } = view;
    if (plan === undefined) return false;
    const former = plan.owners[shard] as string;
    const owners = plan.owners.with(shard, to);
    const followers = (plan.followers[shard] ?? []).filter((tag) => tag !== to);
    // Who hands it over has its wallets.
    if (former !== NOBODY && !followers.includes(former)) followers.unshift(former);
    const pinned = [...plan.pinned.filter((other) => other !== shard), shard];
    const why = `shard ${shard} was moved by an operator`;
    return await this.put(view, {
      plan: { ...plan, owners, followers: plan.followers.with(shard, followers), pinned, why, by },
      gone: [],
    });
  }

  /** Those that live, by tag. */
  private membersIn({ members, drained }: TableView, nowMs: number): PlanMember[] {
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

  private noteMembers(members: readonly PlanMember[], view: TableView, nowMs: number): void {
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
    view: TableView,
    members: readonly PlanMember[],
    lost: readonly number[],
    nowMs: number,
  ): Proposal | undefined {
    const { plan } = view;
    const { tag, watch, shardCount, settings, name } = this.deps;
    const living = new Set(members.map(({ tag }) => tag));
    this.hasSeenOwner ||= plan?.owners.some((owner) => owner === tag || watch.hasLived(owner)) === true;
    this.planlessSinceMs = plan === undefined ? (this.planlessSinceMs ?? nowMs) : undefined;
    // A table that was lost fills again: who serves and who lives is in it by then.
    if (this.hasSeenOwner && nowMs - (this.planlessSinceMs ?? Number.NEGATIVE_INFINITY) < SETTLE_MS) return undefined;
    if (!this.hasSeenOwner && !this.mayBegin(members, nowMs)) return undefined;
    const gone = [...view.members.keys()].filter((tag) => !living.has(tag));
    const [stuck, refused] = [this.stuckShards(view, lost), this.refusedShards(view, nowMs)];
    const before = this.hasSeenOwner && plan?.owners.length === shardCount ? plan : undefined;
    // After all have been away the archive may have been accepted as lost, and another one be in its place.
    const archiveId = archiveOf(
      members.map((member) => member.archiveId),
      before?.archiveId,
    );
    const planned = makePlan({
      shards: shardCount,
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

  /** Makes a first plan, or one after all have been away: one, once it is known of every member whether it lives. */
  private mayBegin(members: readonly PlanMember[], nowMs: number): boolean {
    const { settings, watch, tag: here } = this.deps;
    const sinceMs = nowMs - this.startedMs;
    if (sinceMs >= EXPECT_MS) return true;
    if (members.some(({ tag }) => tag !== here && !watch.hasLived(tag))) return false;
    if (settings.expect > 1) return members.length >= settings.expect;
    return sinceMs >= SETTLE_MS;
  }

  private isCalm({ plan, claims }: TableView, nowMs: number): boolean {
    if (nowMs - this.livingSinceMs < CALM_MS || plan === undefined) return false;
    return plan.owners.every((owner, shard) => claims.get(shard)?.tag === owner);
  }

  /** Those that their owners cannot serve, and others can. */
  private stuckShards({ claims }: TableView, lost: readonly number[]): Set<number> {
    const { watch, tag, shardCount, reaches } = this.deps;
    const stuck = new Set<number>(lost);
    for (let shard = 0; shard < shardCount; shard++) {
      const owner = claims.get(shard)?.tag;
      if (owner === undefined || owner === NOBODY || owner === tag) continue;
      // Where this node does not reach the log either, nobody may.
      if (watch.isStuck(owner, shard) && reaches(shard)) stuck.add(shard);
    }
    return stuck;
  }

  /** Who has no memory for a shard that it has been given, or does not reach its log, does not get it by trying again. */
  private refusedShards({ plan, claims, members }: TableView, nowMs: number): Set<number> {
    const { watch, reaches } = this.deps;
    const refused = new Set<number>();
    for (const [shard, owner] of plan?.owners.entries() ?? []) {
      if (claims.get(shard)?.tag === owner) {
        this.unserved.delete(shard);
        continue;
      }
      const known = this.unserved.get(shard);
      const sinceMs = known?.owner === owner ? known.sinceMs : nowMs;
      this.unserved.set(shard, { owner, sinceMs });
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

  private async write(view: TableView, proposal: Proposal): Promise<void> {
    const { log } = this.deps;
    this.isWriting = true;
    try {
      if (await this.put(view, proposal)) log.info({ why: proposal.plan.why }, 'shards planned');
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'cannot write the plan');
    } finally {
      this.isWriting = false;
    }
  }

  private async put({ version }: TableView, { plan, gone }: Proposal): Promise<boolean> {
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

/** For people. */
function whyOf(
  { plan, members, drained }: TableView,
  gone: readonly string[],
  { stuck, refused }: Pick<PlanInput, 'stuck' | 'refused'>,
  planned: Owners,
  format: number,
): string {
  const nameOf = (tag: string) => members.get(tag)?.name ?? tag;
  if (plan === undefined) return 'the first plan';
  if (gone.length > 0) return `${gone.map(nameOf).join(', ')} gone`;
  const moved = planned.owners.flatMap((owner, shard) => (owner === plan.owners[shard] ? [] : [shard]));
  if (moved.some((shard) => stuck.has(shard))) return 'an owner does not reach its logs';
  if (moved.some((shard) => refused.has(shard))) return 'who was to have a shard cannot take it';
  const isLeaving = (tag: string) => members.get(tag)?.isLeaving === true || drained.has(tag);
  const left = new Set(moved.map((shard) => plan.owners[shard] as string).filter(isLeaving));
  if (left.size > 0) return `${[...left].map(nameOf).join(', ')} drained`;
  if (moved.some((shard) => plan.owners[shard] === NOBODY)) return 'a shard had no owner';
  if (moved.length > 0) return 'balance';
  if (format !== plan.format) return `format ${format}`;
  return isSame(planned, plan) ? 'archive' : 'followers';
}
