import { must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Replier } from '../base/replier.js';
import { DAY_MS, dayOf } from '../base/time.js';
import { type Cancel, nextTurn, type Timers } from '../base/timers.js';
import type { ShardArchive } from '../shard/archive/shard-archive.js';
import type { Shard } from '../shard/shard.js';
import type { Answer } from '../wallet/decision.js';
import type { ArchivablePlayer, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';

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
/** Rounds that leave memory in one turn of the event loop. */
const ROUNDS_PER_TURN = 32;
const NOBODY: Replier<Answer> = { reply() {} };
const SWEEP_MS = 60_000;
/** Between two times that what is known of the archive is saved. */
const SAVE_MS = 600_000;

export interface ArchiverDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  /** How long a round of which nothing is open stays in memory after its last change. */
  readonly memoryMs: number;
  readonly retentionMs: number;
  /** Drops what the archive has of days before this one. */
  readonly dropBefore: (day: number) => Promise<void>;
  /** False while the clock has jumped: nothing may be dropped. */
  readonly isClockTrusted: () => boolean;
}

interface Member {
  readonly shard: Shard;
  readonly archive: ShardArchive;
  /** Players that should have been looked at by now. */
  due: number;
  position: number;
  isBusy: boolean;
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

  constructor(
    shards: readonly (readonly [Shard, ShardArchive])[],
    private readonly deps: ArchiverDeps,
  ) {
    this.members = shards.map(([shard, archive]) => ({ shard, archive, due: 0, position: 0, isBusy: false }));
    this.passMs = Math.max(deps.memoryMs * PASS_SHARE, PASS_MIN_MS);
    this.lastMs = deps.clock.monotonicMs();
  }

  start(): void {
    const { timers } = this.deps;
    this.cancels = [
      timers.every(TURN_MS, () => this.turn()),
      timers.every(SWEEP_MS, () => this.sweep()),
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

  private turn(): void {
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
    let waiting: ArchivablePlayer[] = [];
    let rounds = 0;
    while (member.due >= 1) {
      const scanned = await this.scan(member, Math.min(Math.floor(member.due), PLAYERS_MAX));
      if (scanned === undefined) break;
      member.due -= Math.max(scanned.looked, 1);
      waiting.push(...scanned.players);
      for (const player of scanned.players) rounds += player.rounds.length;
      if (rounds < ROUNDS_MAX && member.due >= 1) continue;
      if (rounds > 0) await this.moveRounds(member, waiting);
      waiting = [];
      rounds = 0;
    }
    member.isBusy = false;
  }

  /** What it tells is durable. Undefined while the shard does not serve. */
  private async scan(
    member: Member,
    count: number,
  ): Promise<{ readonly players: readonly ArchivablePlayer[]; readonly looked: number } | undefined> {
    const { shard, position: from } = member;
    const beforeMs = this.deps.clock.now() - this.deps.memoryMs;
    const result = await new Promise<QueryResult | BusyAnswer>((resolve) => {
      shard.submit({
        type: 'query',
        query: { type: 'list-archivable', from, count, beforeMs },
        replier: { reply: resolve },
        deadlineMs: Number.POSITIVE_INFINITY,
      });
    });
    if (result.type !== 'archivable') return undefined;
    member.position = result.next;
    return { players: result.players, looked: result.next === 0 ? count : result.next - from };
  }

  private async moveRounds({ shard, archive }: Member, players: readonly ArchivablePlayer[]): Promise<void> {
    const { lsn } = must(shard.durableHead, 'a shard that has answered has a log');
    await archive.put(lsn, players);
    let rounds = 0;
    for (const player of players) {
      letGo(shard, player);
      rounds += player.rounds.length;
      // Others have their turn: a round takes some microseconds to leave.
      if (rounds < ROUNDS_PER_TURN) continue;
      rounds = 0;
      await nextTurn(this.deps.timers);
    }
  }

  private sweep(): void {
    if (!this.deps.isClockTrusted()) return;
    // A day more: what was changed last within it is not as old yet.
    const day = dayOf(this.deps.clock.now() - this.deps.retentionMs - DAY_MS);
    void this.deps.dropBefore(day).catch(() => {});
    for (const { archive } of this.members) archive.dropBefore(day);
  }
}

function letGo(shard: Shard, { username, version, rounds }: ArchivablePlayer): void {
  const images = rounds.map(({ image }) => image);
  const command = { type: 'archive', username, version, images } as const;
  shard.submit({ type: 'command', command, replier: NOBODY, deadlineMs: Number.POSITIVE_INFINITY });
}
