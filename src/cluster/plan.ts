import { hashString } from '../base/hash.js';
import type { Plan } from './table.js';

export interface PlanMember {
  readonly tag: string;
  readonly name: string;
  readonly isDraining: boolean;
}

export interface PlanInput {
  readonly shards: number;
  /** Those that live. */
  readonly members: readonly PlanMember[];
  /** Who serves a shard, as far as anybody knows. */
  readonly ownerOf: (shard: number) => string | undefined;
  readonly before: Pick<Plan, 'owners' | 'followers'> | undefined;
  /** Followers of each shard, where there are members enough. */
  readonly followers: number;
  /** Nothing has changed for a while and nothing is on its way: shards may move for balance alone. */
  readonly isCalm: boolean;
}

const NOBODY = '';

/**
 * Who should have which shard. A member that lives keeps what it has; a shard without an owner goes to a follower, else to
 * who has least; members that drain keep theirs only when no other lives. For balance one shard moves at a time.
 * Without members nobody has anything.
 */
export function makePlan(input: PlanInput): Pick<Plan, 'owners' | 'followers'> {
  const { shards, members, before } = input;
  const staying = members.filter(({ isDraining }) => !isDraining);
  const hosts = staying.length > 0 ? staying : members;
  const byTag = new Map(hosts.map((member) => [member.tag, member]));
  const isHost = (tag: string | undefined): tag is string => tag !== undefined && byTag.has(tag);
  const owners: string[] = [];
  const load = new Map(hosts.map(({ tag }) => [tag, 0]));
  const count = (tag: string) => load.set(tag, (load.get(tag) ?? 0) + 1);
  for (let shard = 0; shard < shards; shard++) {
    const owner = [before?.owners[shard], input.ownerOf(shard)].find(isHost) ?? NOBODY;
    owners.push(owner);
    if (owner !== NOBODY) count(owner);
  }
  for (let shard = 0; shard < shards; shard++) {
    if (owners[shard] !== NOBODY) continue;
    const followers = (before?.followers[shard] ?? []).filter(isHost);
    const owner = least(
      followers.length > 0 ? followers.map((tag) => byTag.get(tag) as PlanMember) : hosts,
      shard,
      load,
    );
    owners[shard] = owner ?? NOBODY;
    if (owner !== undefined) count(owner);
  }
  if (input.isCalm) balance(owners, hosts, load, before);
  return { owners, followers: followersOf(owners, hosts, input) };
}

/** Of these the one with least; a hash of name and shard decides between equals. */
function least(members: readonly PlanMember[], shard: number, load: ReadonlyMap<string, number>): string | undefined {
  const rank = ({ tag, name }: PlanMember) => [load.get(tag) ?? 0, hashString(`${name} ${shard}`), tag] as const;
  return members.map((member) => rank(member)).sort(compareRanks)[0]?.[2];
}

function compareRanks(a: readonly [number, number, string], b: readonly [number, number, string]): number {
  return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : 1);
}

/** Moves one shard from who has most to who has least, if they differ by two: one that is followed there already first. */
function balance(
  owners: string[],
  hosts: readonly PlanMember[],
  load: ReadonlyMap<string, number>,
  before: PlanInput['before'],
): void {
  const sorted = [...hosts].sort((a, b) => (load.get(a.tag) ?? 0) - (load.get(b.tag) ?? 0) || (a.tag < b.tag ? -1 : 1));
  const poorest = sorted[0]?.tag;
  const richest = sorted.at(-1)?.tag;
  if (poorest === undefined || richest === undefined) return;
  if ((load.get(richest) ?? 0) - (load.get(poorest) ?? 0) < 2) return;
  const movable = [...owners.keys()].filter((shard) => owners[shard] === richest);
  const moved = movable.find((shard) => before?.followers[shard]?.includes(poorest)) ?? movable[0];
  if (moved !== undefined) owners[moved] = poorest;
}

/** Who follows goes on to, as far as it can; the others are spread. */
function followersOf(
  owners: readonly string[],
  hosts: readonly PlanMember[],
  { before, followers: wanted }: PlanInput,
): string[][] {
  const load = new Map<string, number>();
  const followers = owners.map((owner, shard) => {
    const others = hosts.filter(({ tag }) => tag !== owner).map(({ tag }) => tag);
    const former = before?.owners[shard];
    // Who hands a shard over has its wallets.
    const had = [...(before?.followers[shard] ?? []), ...(former === undefined ? [] : [former])];
    const kept = [...new Set(had)].filter((tag) => others.includes(tag)).slice(0, wanted);
    for (const tag of kept) load.set(tag, (load.get(tag) ?? 0) + 1);
    return kept;
  });
  for (const [shard, kept] of followers.entries()) {
    while (kept.length < wanted) {
      const free = hosts.filter(({ tag }) => tag !== owners[shard] && !kept.includes(tag));
      const next = least(free, shard, load);
      if (next === undefined) break;
      kept.push(next);
      load.set(next, (load.get(next) ?? 0) + 1);
    }
  }
  return followers;
}
