import type { Put, ShardArchive } from '../archive/shard-archive.js';
import { must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Replier } from '../base/replier.js';
import { DAY_MS, dayOf } from '../base/time.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';
import type { Answer } from '../wallet/decision.js';
import type { ArchivablePlace, ArchivablePlayer, Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { SpareTime } from './spare-time.js';

const TURN_MS = 20;
/** Length of a slice of merging an archive's key filter, and therefore the longest delay that merging causes. */
const SLICE_MS = 1;
/** Duration of one pass over all players, as a share of the time that rounds stay in memory. */
const PASS_SHARE = 1 / 8;
const PASS_MIN_MS = 10;
/** Maximum number of players that one query examines. */
const PLAYERS_MAX = 2000;
/** Approximate number of rounds in one archive write. */
const ROUNDS_MAX = 500;
/** Number of rounds that leave memory in one event-loop iteration. This takes a few hundred microseconds. */
const ROUNDS_PER_TURN = 32;
const NO_REPLIER: Replier<Answer> = { reply() {} };
const START: ArchivablePlace = { position: 0, rounds: 0 };
const SWEEP_MS = 60_000;
/** Interval between saves of the key filter. */
const SAVE_MS = 600_000;

export interface ArchiverDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly spareTime: SpareTime;
  /** How long a closed round stays in memory after its last change. */
  readonly memoryMs: number;
  /** Permanently drops all archive days before this one. */
  readonly dropBefore: (day: number) => Promise<void>;
  /**
   * Rounds whose last change was before this time may be dropped, as far as this thread knows. Undefined if nothing may
   * be dropped.
   */
  readonly expiredBeforeMs: (serverMs: number | undefined) => number | undefined;
  /** The time of the archive server's clock; undefined if the archive has no server. Rejects during an outage. */
  readonly serverMs: () => Promise<number | undefined>;
}

interface Member {
  readonly shard: Shard;
  readonly archive: ShardArchive;
  /** Number of players that are due for examination. The fraction accumulates. */
  due: number;
  place: ArchivablePlace;
  isBusy: boolean;
}

/** Archivable rounds of some players, as returned by one query. */
interface Leaving {
  /** The owner's nonce at the time of the query. If it differs later, the shard has had another owner in between. */
  readonly nonce: string | undefined;
  readonly beforeMs: number;
  readonly players: readonly ArchivablePlayer[];
}

/**
 * Moves closed rounds from memory into the archive, player by player. Only rounds whose changes are durable are put
 * into the archive. Once that write is durable as well, the shard drops the rounds from memory, unless they have
 * changed.
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

  /** Saves the key filters for the next start. */
  async save(): Promise<void> {
    for (const { archive } of this.members) await archive.save();
  }

  stop(): void {
    for (const cancel of this.cancels) cancel();
    for (const { archive } of this.members) archive.close();
  }

  /**
   * The archive has dropped all days before this time and no longer accepts rounds of these days. Only rounds older
   * than this time may be forgotten from memory. Otherwise a pending put could bring a forgotten round back when there
   * are already new rounds with its ids.
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
      // Examine at least one player per second, even in a shard with few players.
      const due = member.due + Math.max((playerCount * elapsedMs) / this.passMs, elapsedMs / 1000);
      member.due = Math.min(due, playerCount);
      if (member.due >= 1 && !member.isBusy) void this.move(member);
    }
    const endMs = nowMs + SLICE_MS;
    for (const { archive } of this.members) while (archive.work() && this.deps.clock.monotonicMs() < endMs);
  }

  /** Examines the players that are due and moves their archivable rounds. Many rounds share one durable write. */
  private async move(member: Member): Promise<void> {
    member.isBusy = true;
    while (member.due >= 1) {
      const leaving = await this.leaving(member);
      if (leaving === undefined) break;
      if (leaving.players.length > 0) await this.moveRounds(member, leaving);
    }
    member.isBusy = false;
  }

  /**
   * Archivable rounds of the players that are due. All their changes are durable. Undefined if the shard does not
   * serve.
   */
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
      const { position, rounds: reported } = scanned.next;
      // A player who has more archivable rounds than one query returns remains due.
      member.due -= position === 0 && reported === 0 ? count : position - member.place.position;
      member.place = scanned.next;
      players.push(...scanned.players);
      for (const player of scanned.players) rounds += player.rounds.length;
    }
    // The returned rounds leave memory before the next query, which therefore starts at round 0 again.
    member.place = { ...member.place, rounds: 0 };
    return { nonce, beforeMs, players };
  }

  private async moveRounds({ shard, archive }: Member, { nonce, beforeMs, players }: Leaving): Promise<void> {
    const { spareTime } = this.deps;
    // Another node may have owned the shard in between, and this node may have taken it over again with the same
    // wallets.
    const isSameOwner = () => nonce !== undefined && shard.source?.head.nonce === nonce;
    // If another owner has archived these rounds in between, its versions are newer.
    if (!isSameOwner()) return;
    const { lsn } = must(shard.durableHead, 'a shard that has answered has a log');
    const put = await spareTime.run(() => archive.put(lsn, players));
    for (let next = 0; next < put.players.length; ) {
      // Another owner's clock may have been slow, so that its changes seem older than they are.
      if (!isSameOwner()) return;
      next = await spareTime.run(() => dropFrom(shard, put, next, beforeMs));
    }
  }

  /**
   * Permanently drops expired days, including days that other nodes wrote. If the archive is unavailable, a later sweep
   * drops them.
   */
  private async sweep(): Promise<void> {
    await Promise.all(this.members.map(({ archive }) => archive.check()));
    // An archive that is behind the log may be the wrong one; the right archive would then keep the days that are
    // dropped here.
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
    // The slice of a day contains rounds that changed until the end of that day.
    const day = dayOf(beforeMs - DAY_MS);
    try {
      await this.deps.dropBefore(day);
    } catch {
      // Keep the keys of these days, because their slices may still exist. Without the keys, a forgotten round could
      // come back next to a new one with its ids. The next sweep tries again.
      return;
    }
    this.keptSinceMs = Math.max(this.keptSinceMs, day * DAY_MS);
    for (const { archive } of this.members) archive.dropBefore(day);
  }
}

/** Runs the query. Returns undefined if the shard is not serving. */
async function scan(
  shard: Shard,
  query: Extract<Query, { type: 'list-archivable' }>,
): Promise<Extract<QueryResult, { type: 'archivable' }> | undefined> {
  const result = await new Promise<QueryResult | BusyAnswer>((resolve) => {
    shard.submit({ type: 'query', query, replier: { reply: resolve }, deadlineMs: Number.POSITIVE_INFINITY });
  });
  return result.type === 'archivable' ? result : undefined;
}

/**
 * Drops some archived rounds from memory, starting with the player at index `from`. Returns the index of the next
 * player.
 */
function dropFrom(shard: Shard, { players, mark }: Put, from: number, beforeMs: number): number {
  let next = from;
  for (let gone = 0; gone < ROUNDS_PER_TURN && next < players.length; next++) {
    const { username, rounds } = players[next] as ArchivablePlayer;
    const command = { type: 'archive', username, rounds, beforeMs, mark } as const;
    shard.submit({ type: 'command', command, replier: NO_REPLIER, deadlineMs: Number.POSITIVE_INFINITY });
    gone += rounds.length;
  }
  return next;
}
