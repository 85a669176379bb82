import { hashString } from '../base/hash.js';
import type { MemberRecord, Plan } from '../ports/table.js';
import { isOtherArchive } from './archive-ids.js';

export type Owners = Pick<Plan, 'owners' | 'followers' | 'pinned'>;

export interface PlanMember
  extends Pick<MemberRecord, 'name' | 'zone' | 'isFull' | 'hasRoom' | 'isTimeWrong' | 'archiveId' | 'unreachable'> {
  readonly tag: string;
  readonly isDraining: boolean;
}

export interface PlanInput {
  readonly shards: number;
  /** The live members. */
  readonly members: readonly PlanMember[];
  /** The current owner of a shard, if known. */
  readonly ownerOf: (shard: number) => string | undefined;
  readonly before: Owners | undefined;
  /** Desired number of followers per shard, if there are enough members. */
  readonly followers: number;
  /** True if no member or owner has changed for a while. A shard may then move for balance alone. */
  readonly isCalm: boolean;
  /** Shards whose owners cannot reach the logs. */
  readonly stuck: ReadonlySet<number>;
  /** Shards whose assigned owner has no memory for them or cannot reach their logs. */
  readonly refused: ReadonlySet<number>;
  /** The id of the archive that logs may rely on; undefined if none is known. */
  readonly archiveId: string | undefined;
}

export const NO_OWNER = '';

/**
 * Assigns an owner and followers to each shard.
 *
 * A live member keeps its shards. A shard without an owner goes to a follower, or else to the least loaded member with
 * memory for it. Members that have had free memory for a while come first. A draining member keeps shards only if no
 * other member is alive. A member without the archive that logs rely on, or with a different archive, gets no shards.
 * At most one shard at a time moves for balance. Without members, shards have no owner.
 */
export function makePlan(input: PlanInput): Owners {
  const { shards, before, stuck, refused, archiveId } = input;
  const hosts = hostsOf(input);
  const byTag = new Map(hosts.map((member) => [member.tag, member]));
  const isHost = (tag: string | undefined): tag is string => tag !== undefined && byTag.has(tag);
  const suits = (tag: string) => !isOtherArchive(byTag.get(tag)?.archiveId, archiveId);
  const mayTake = (tag: string) => !byTag.get(tag)?.isTimeWrong && suits(tag);
  const owners: string[] = [];
  const load = new Map(hosts.map(({ tag }) => [tag, 0]));
  const count = (tag: string) => load.set(tag, (load.get(tag) ?? 0) + 1);
  for (let shard = 0; shard < shards; shard++) {
    const serving = input.ownerOf(shard);
    const planned = before?.owners[shard];
    const isStuck = stuck.has(shard) && planned === serving;
    const keeps = (tag: string | undefined) => isHost(tag) && (tag === serving || mayTake(tag));
    const owner = isStuck ? undefined : [refused.has(shard) ? undefined : planned, serving].find(keeps);
    owners.push(owner ?? NO_OWNER);
    if (owner !== undefined) count(owner);
  }
  for (let shard = 0; shard < shards; shard++) {
    if (owners[shard] !== NO_OWNER) continue;
    const former = stuck.has(shard) ? input.ownerOf(shard) : undefined;
    const refusing = refused.has(shard) ? before?.owners[shard] : undefined;
    const others = hosts.filter(({ tag }) => tag !== former && tag !== refusing && mayTake(tag));
    const followers = others.filter(({ tag }) => before?.followers[shard]?.includes(tag));
    const roomy = others.filter(({ isFull }) => !isFull);
    const roomyAgain = others.filter(({ hasRoom }) => hasRoom);
    const candidates = [followers, roomy, roomyAgain].find(({ length }) => length > 0) ?? [];
    // Without any other candidate, choose the member that failed to serve the shard, because it may reach the log again
    // or have memory again.
    const mayTryAgain = (tag: string | undefined) => isHost(tag) && (tag === former || suits(tag));
    const owner = least(candidates, shard, load) ?? [former, refusing].find(mayTryAgain);
    owners[shard] = owner ?? NO_OWNER;
    if (owner !== undefined) count(owner);
  }
  const pinned = (before?.pinned ?? []).filter((shard) => owners[shard] === before?.owners[shard]);
  if (input.isCalm) balance(owners, hosts, load, { before, pinned, mayTake });
  return { owners, followers: followersOf(owners, hosts, input), pinned };
}

/** Members that may own shards. */
function hostsOf({ members, shards, ownerOf, archiveId }: PlanInput): readonly PlanMember[] {
  const serving = new Set(Array.from({ length: shards }, (_, shard) => ownerOf(shard)));
  const cutOff = cutOffOf(members, (tag) => serving.has(tag));
  const staying = members.filter(({ tag, isDraining }) => !isDraining && !cutOff.has(tag));
  return staying.some((member) => !isOtherArchive(member.archiveId, archiveId)) ? staying : members;
}

/**
 * Members to exclude because of missing links. Of two members that cannot reach each other, the one with more missing
 * links is excluded. In a tie, it is the one that serves nothing, and otherwise the one with the greater tag. A report
 * by one of the two is enough, because a newcomer may not have noticed yet.
 */
function cutOffOf(members: readonly PlanMember[], isServing: (tag: string) => boolean): Set<string> {
  const missed = new Map(members.map(({ tag }) => [tag, new Set<string>()]));
  for (const { tag, unreachable } of members) {
    for (const other of unreachable) {
      if (!missed.has(other)) continue;
      missed.get(tag)?.add(other);
      missed.get(other)?.add(tag);
    }
  }
  const rank = (tag: string) => [missed.get(tag)?.size ?? 0, isServing(tag) ? 0 : 1, tag] as const;
  const cutOff = new Set<string>();
  for (const [tag, others] of missed) {
    for (const other of others) cutOff.add(compareRanks(rank(tag), rank(other)) > 0 ? tag : other);
  }
  return cutOff;
}

/** The least loaded of these members. A hash of name and shard breaks ties. */
function least(members: readonly PlanMember[], shard: number, load: ReadonlyMap<string, number>): string | undefined {
  const rank = ({ tag, name }: PlanMember) => [load.get(tag) ?? 0, hashString(`${name} ${shard}`), tag] as const;
  return members.map((member) => rank(member)).sort(compareRanks)[0]?.[2];
}

function compareRanks(a: readonly [number, number, string], b: readonly [number, number, string]): number {
  return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : 1);
}

/**
 * Moves one shard from the most loaded to the least loaded member, if their loads differ by at least two. Prefers a
 * shard that the least loaded member already follows.
 */
function balance(
  owners: string[],
  hosts: readonly PlanMember[],
  load: ReadonlyMap<string, number>,
  { before, pinned, mayTake }: Pick<PlanInput, 'before'> & Pick<Plan, 'pinned'> & { mayTake: (tag: string) => boolean },
): void {
  const sorted = [...hosts].sort((a, b) => (load.get(a.tag) ?? 0) - (load.get(b.tag) ?? 0) || (a.tag < b.tag ? -1 : 1));
  const poorest = sorted.find(({ tag, isFull }) => !isFull && mayTake(tag))?.tag;
  const richest = sorted.at(-1)?.tag;
  if (poorest === undefined || richest === undefined) return;
  if ((load.get(richest) ?? 0) - (load.get(poorest) ?? 0) < 2) return;
  const movable = [...owners.keys()].filter((shard) => owners[shard] === richest && !pinned.includes(shard));
  const moved = movable.find((shard) => before?.followers[shard]?.includes(poorest)) ?? movable[0];
  if (moved !== undefined) owners[moved] = poorest;
}

/**
 * Keeps existing followers where possible, and distributes the remaining shards over members, preferably in a different
 * zone from the owner's.
 */
function followersOf(
  owners: readonly string[],
  hosts: readonly PlanMember[],
  { before, followers: wanted, archiveId }: PlanInput,
): string[][] {
  const load = new Map<string, number>();
  const zones = new Map(hosts.map(({ tag, zone }) => [tag, zone]));
  const roomy = hosts.filter((member) => !member.isFull && !isOtherArchive(member.archiveId, archiveId));
  const followers = owners.map((owner, shard) => {
    const others = owner === NO_OWNER ? [] : roomy.filter(({ tag }) => tag !== owner).map(({ tag }) => tag);
    const former = before?.owners[shard];
    // Keep the former owner as a follower if possible, because it still has the shard's wallets in memory.
    const had = [...(before?.followers[shard] ?? []), ...(former === undefined ? [] : [former])];
    const kept = [...new Set(had)].filter((tag) => others.includes(tag)).slice(0, wanted);
    for (const tag of kept) load.set(tag, (load.get(tag) ?? 0) + 1);
    return kept;
  });
  for (const [shard, kept] of followers.entries()) {
    const owner = owners[shard] as string;
    while (owner !== NO_OWNER && kept.length < wanted) {
      const free = roomy.filter(({ tag }) => tag !== owner && !kept.includes(tag));
      const elsewhere = free.filter(({ zone }) => zone !== '' && zone !== zones.get(owner));
      const next = least(elsewhere, shard, load) ?? least(free, shard, load);
      if (next === undefined) break;
      kept.push(next);
      load.set(next, (load.get(next) ?? 0) + 1);
    }
  }
  return followers;
}
