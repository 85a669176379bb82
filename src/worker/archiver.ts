import { must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Replier } from '../base/replier.js';
import { DAY_MS, dayOf } from '../base/time.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Put, ShardArchive } from '../shard/archive/shard-archive.js';
import type { Shard } from '../shard/shard.js';
import type { Answer } from '../wallet/decision.js';
import type { ArchivablePlace, ArchivablePlayer, Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { SpareTime } from './spare-time.js';

const TURN_MS = 20;
/** Merging what is known of an archive: nobody waits longer for it. */
const SLICE_MS = 1;
/** A pass over all players takes this share of the time that rounds stay in memory. */
const PASS_SHARE = 1 / 8;
const PASS_MIN_MS = 10;
/** Players that are looked at in one turn. */
const PLAYERS_MAX = 2000;
/** Rounds that are put into the archive at once, about. */
const ROUNDS_MAX = 500;
/** Rounds that leave memory in one turn of the event loop: some hundred microseconds. */
const ROUNDS_PER_TURN = 32;
const NOBODY: Replier<Answer> = { reply() {} };
const START: ArchivablePlace = { position: 0, rounds: 0 };
const SWEEP_MS = 60_000;
/** Between two times that what is known of the archive is saved. */
const SAVE_MS = 600_000;

export interface ArchiverDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly spareTime: SpareTime;
  /** How long a round of which nothing is open stays in memory after its last change. */
  readonly memoryMs: number;
  /** Drops what the archive has of days before this one. */
  readonly dropBefore: (day: number) => Promise<void>;
  /** Changed last before this moment: may be dropped, as far as this thread knows. Undefined: nothing may be dropped. */
  readonly expiredBeforeMs: (serverMs: number | undefined) => number | undefined;
  /** The clock of the archive's server; undefined without one. Rejects during an outage. */
  readonly serverMs: () => Promise<number | undefined>;
}

interface Member {
  readonly shard: Shard;
  readonly archive: ShardArchive;
  /** Players that should have been looked at by now. */
  due: number;
  place: ArchivablePlace;
  isBusy: boolean;
}

/** What can go of some players, as it was told. */
interface Leaving {
  /** Of the shard's newest fence at that time. */
  readonly nonce: string | undefined;
  readonly beforeMs: number;
  readonly players: readonly ArchivablePlayer[];
}

/**
 * Moves rounds of which nothing is open from memory into the archive, player by player: what it has been told durably is put
 * there, and when that is durable, too, the shard lets go of it, unless it has changed.
 */
export class Archiver {
  private readonly members: readonly Member[];
  private readonly passMs: number;
  private cancels: readonly Cancel[] = [];
  private lastMs: number;
  private keptSinceMs = Number.NEGATIVE_INFINITY;

  constructor(
    shards: readonly (readonly [Shard, ShardArchive])[],
    private readonly deps: ArchiverDeps,
  ) {
    this.members = shards.map(([shard, archive]) => ({ shard, archive, due: 0, place: START, isBusy: false }));
    this.passMs = Math.max(deps.memoryMs * PASS_SHARE, PASS_MIN_MS);
    this.lastMs = deps.clock.monotonicMs();
  }

  start(): void {
    const { timers } = this.deps;
    if (this.members.length === 0) return;
    this.cancels = [
      timers.every(TURN_MS, () => this.turn()),
      timers.every(SWEEP_MS, () => void this.sweep()),
      timers.every(SAVE_MS, () => void this.save()),
    ];
  }

  /** For the next start. */
  async save(): Promise<void> {
    for (const { archive } of this.members) await archive.save();
  }

  stop(): void {
    for (const cancel of this.cancels) cancel();
    for (const { archive } of this.members) archive.close();
  }

  /**
   * The archive has dropped all days before this moment, and takes none of their rounds any more. What memory forgets is older: else
   * a put that was on its way would bring a forgotten round back, beside new ones with its ids.
   */
  get droppedBeforeMs(): number {
    return this.members.length === 0 ? Number.POSITIVE_INFINITY : this.keptSinceMs;
  }

  private turn(): void {
    this.deps.spareTime.earn();
    const nowMs = this.deps.clock.monotonicMs();
    const elapsedMs = nowMs - this.lastMs;
    this.lastMs = nowMs;
    for (const member of this.members) {
      const { playerCount } = member.shard;
      // At least one now and then: there may be few players.
      const due = member.due + Math.max((playerCount * elapsedMs) / this.passMs, elapsedMs / 1000);
      member.due = Math.min(due, playerCount);
      if (member.due >= 1 && !member.isBusy) void this.move(member);
    }
    const endMs = nowMs + SLICE_MS;
    for (const { archive } of this.members) while (archive.work() && this.deps.clock.monotonicMs() < endMs);
  }

  /** Looks at the players that are due, and moves what can go: many rounds share one durable write. */
  private async move(member: Member): Promise<void> {
    member.isBusy = true;
    while (member.due >= 1) {
      const leaving = await this.leaving(member);
      if (leaving === undefined) break;
      if (leaving.players.length > 0) await this.moveRounds(member, leaving);
    }
    member.isBusy = false;
  }

  /** What it tells is durable. Undefined while the shard does not serve. */
  private async leaving(member: Member): Promise<Leaving | undefined> {
    const { shard } = member;
    const nonce = shard.source?.head.nonce;
    const beforeMs = shard.now() - this.deps.memoryMs;
    const players: ArchivablePlayer[] = [];
    for (let rounds = 0; rounds < ROUNDS_MAX && member.due >= 1; ) {
      const count = Math.min(Math.floor(member.due), PLAYERS_MAX);
      const query = { type: 'list-archivable', from: member.place, count, beforeMs } as const;
      const scanned = await this.deps.spareTime.run(() => scan(shard, query));
      if (scanned === undefined) return undefined;
      const { position, rounds: told } = scanned.next;
      // Who has more to go than is told at once is not done with.
      member.due -= position === 0 && told === 0 ? count : position - member.place.position;
      member.place = scanned.next;
      players.push(...scanned.players);
      for (const player of scanned.players) rounds += player.rounds.length;
    }
    // What was told is gone when the next ones are looked for.
    member.place = { ...member.place, rounds: 0 };
    return { nonce, beforeMs, players };
  }

  private async moveRounds({ shard, archive }: Member, { nonce, beforeMs, players }: Leaving): Promise<void> {
    const { spareTime } = this.deps;
    // Another node may have had the shard meanwhile, and it can be back by now, with the very wallets.
    const isSameOwner = () => nonce !== undefined && shard.source?.head.nonce === nonce;
    // What the other one has put would be older than these images.
    if (!isSameOwner()) return;
    const { lsn } = must(shard.durableHead, 'a shard that has answered has a log');
    const put = await spareTime.run(() => archive.put(lsn, players));
    for (let next = 0; next < put.players.length; ) {
      // The other one's clock may have been behind: what it changed may look older than it is.
      if (!isSameOwner()) return;
      next = await spareTime.run(() => letGoFrom(shard, put, next, beforeMs));
    }
  }

  /** Days are dropped for good, also those that other nodes have put there: an outage of the archive delays it. */
  private async sweep(): Promise<void> {
    await Promise.all(this.members.map(({ archive }) => archive.check()));
    // An archive that is behind the log may be another one: the right one would keep its days.
    if (this.members.some(({ archive }) => archive.measures.isBehind)) return;
    if (this.deps.expiredBeforeMs(undefined) === undefined) return;
    let serverMs: number | undefined;
    try {
      serverMs = await this.deps.serverMs();
    } catch {
      return;
    }
    const beforeMs = this.deps.expiredBeforeMs(serverMs);
    if (beforeMs === undefined) return;
    // A day's slice holds what was changed until its end.
    const day = dayOf(beforeMs - DAY_MS);
    try {
      await this.deps.dropBefore(day);
    } catch {
      // Names without their day would let a forgotten round come back beside a new one with its ids. The next sweep tries again.
      return;
    }
    this.keptSinceMs = Math.max(this.keptSinceMs, day * DAY_MS);
    for (const { archive } of this.members) archive.dropBefore(day);
  }
}

/** Undefined while the shard does not serve. */
async function scan(
  shard: Shard,
  query: Extract<Query, { type: 'list-archivable' }>,
): Promise<Extract<QueryResult, { type: 'archivable' }> | undefined> {
  const result = await new Promise<QueryResult | BusyAnswer>((resolve) => {
    shard.submit({ type: 'query', query, replier: { reply: resolve }, deadlineMs: Number.POSITIVE_INFINITY });
  });
  return result.type === 'archivable' ? result : undefined;
}

/** Lets go of some of them, from the one with this index on; returns the index of the next one. */
function letGoFrom(shard: Shard, { players, mark }: Put, from: number, beforeMs: number): number {
  let next = from;
  for (let gone = 0; gone < ROUNDS_PER_TURN && next < players.length; next++) {
    const { username, rounds } = players[next] as ArchivablePlayer;
    const command = { type: 'archive', username, rounds, beforeMs, mark } as const;
    shard.submit({ type: 'command', command, replier: NOBODY, deadlineMs: Number.POSITIVE_INFINITY });
    gone += rounds.length;
  }
  return next;
}
