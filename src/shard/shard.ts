import { AssertionFailure, assert, must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { Queue } from '../base/queue.js';
import type { Replier } from '../base/replier.js';
import { startOfDay } from '../base/time.js';
import { apply, applyIn, type WalletEvent } from '../wallet/apply.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';
import { CHANGES } from '../wallet/changes.js';
import type { Command } from '../wallet/command.js';
import { decide } from '../wallet/decide/decide.js';
import type { Rules } from '../wallet/decide/rules.js';
import type { Answer } from '../wallet/decision.js';
import type { Event } from '../wallet/event.js';
import { type Query, type QueryResult, query } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { hasForgettable } from '../wallet/retention.js';
import type { Wallet } from '../wallet/state/wallet.js';
import type { Wallets } from '../wallet/state/wallets.js';
import type { Tallies } from '../wallet/tallies.js';
import { ArchiveDesk, type Carrier } from './archive/archive-desk.js';
import type { ShardArchive } from './archive/shard-archive.js';
import type { Found } from './archive/waiting-players.js';
import { answerAll, type Batch, hasReplies, newBatch } from './batch.js';
import type { FlightMember } from './group-commit.js';
import type { Follower } from './log/follower.js';
import { formatLsn } from './log/lsn.js';
import type { RecentEntries } from './log/recent-entries.js';
import type { Recovered } from './log/recovery.js';
import type { Append, AppendOutcome, EntryFormat, Head, SealedEntry } from './log/wal.js';
import { type Flight, type Landed, LogTail } from './log-tail.js';
import {
  answeredOnce,
  MEMORY_FULL,
  MOVED,
  OVERLOADED,
  type Request,
  STARTING,
  STOPPED,
  TOO_LATE,
  UNSURE,
  UPGRADING,
} from './request.js';
import type { ShardObserver } from './shard-observer.js';
import type { Watermarks } from './watermarks.js';

/**
 *                 ┌──────────────── recovered ───────────────┐
 *                 v                                          │
 *   starting ─> serving ── assertion ─> failing ─ landed ─> starting      again too soon: stopped
 *      │          │ └────── another owner's fence ─> fenced
 *      │          └──────── a head that is not ours ─> stopped       a head that was ours: the lost entries go in again
 *      └─ a log that cannot be continued ─> stopped
 *
 * While it fails, what lands can find another's head as well: then it is fenced or stopped. Where several nodes share the
 * shards:
 *
 *   away ── its log was read ─> following ── our fence ─> serving <─ resumed ─ handing
 *     ^                             │  ^                   │  └────── paused ────^  │
 *     └────── left, or of no use ───┘  └───────────────────│──── released ──────────┘
 *   fenced ─> away                                         └─ another owner's fence ─> fenced
 */
export type ShardState =
  | 'starting'
  | 'serving'
  | 'failing'
  | 'fenced'
  | 'stopped'
  /** Another node's. */
  | 'away'
  /** Another node's, whose log is read here as it is written. */
  | 'following'
  /** Decides nothing any more, so that another node can take it over. */
  | 'handing';

export interface ShardLimits {
  /** Requests that wait because the entry being formed is full; also, answers that wait for one entry. */
  readonly mailboxMax: number;
  /** Soft caps of one entry: a command that has begun is never split over two. */
  readonly batchEventsMax: number;
  readonly batchBytesMax: number;
}

/** How a shard is doing, in numbers. */
export interface ShardMeasures {
  readonly shard: number;
  /** Requests that wait for the next entry. */
  readonly mailbox: number;
  /** Commands that wait for their answer, in the mailbox or behind an entry. */
  readonly waiting: number;
  readonly watermarks: Pick<Watermarks, 'applied' | 'appended' | 'durable'>;
  readonly epoch: number;
  readonly transactions: number;
  /** Players of whom all but a few words is one blob. */
  readonly playersPacked: number;
  readonly recordBytes: { readonly all: number; readonly used: number };
  readonly entriesSinceSnapshot: number;
}

export interface ShardDeps {
  readonly format: EntryFormat;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules: Rules;
  readonly limits: ShardLimits;
  readonly memory: { readonly isFull: boolean };
  /** Where rounds go that are closed; undefined: all of them stay in memory. */
  readonly archive: ShardArchive | undefined;
  readonly observer: ShardObserver;
  /** Asks for a flight; see GroupCommit. */
  readonly requestFlight: () => void;
  /** The shard has dropped its memory, to be recovered from its log. */
  readonly onFailed: (shard: Shard) => void;
  /** The shard's log is another owner's from `head` on. */
  readonly onFenced: (shard: Shard, head: Head) => void;
  /** The shard's log ends in a head that is neither ours nor a newer owner's. */
  readonly onDiverged: (shard: Shard) => void;
}

/** The wallets of a serving shard, for a snapshot. They go on changing. */
export interface SnapshotSource {
  /** Others than before mean that the shard was recovered meanwhile. */
  readonly wallets: Wallets;
  /** The newest durable entry. */
  readonly head: Head;
  /** Sequence of the newest entry, also one still being formed, that `wallets` holds something of. */
  readonly applied: number;
  readonly timeMs: number;
  /** Of the log up to `head`: they go on with it. */
  readonly tallies: Tallies;
  /** Bytes of the log from its first entry of all up to `head`. */
  readonly logBytes: number;
  /** Durable entries with events that no snapshot holds. */
  readonly entriesSinceSnapshot: number;
}

const NONE: readonly SealedEntry[] = [];
const NOT_YET: Pick<Watermarks, 'applied' | 'appended' | 'durable'> = { applied: 0, appended: 0, durable: 0 };
/** Of a shard that does not serve. */
const ANSWERS: Readonly<Record<Exclude<ShardState, 'serving'>, BusyAnswer>> = {
  starting: STARTING,
  failing: STARTING,
  stopped: STOPPED,
  fenced: MOVED,
  away: MOVED,
  following: MOVED,
  handing: MOVED,
};
/** Receives answers that nobody waits for. */
const DISCARD: Replier<Answer | QueryResult | BusyAnswer> = { reply() {} };

/**
 * The actor: owns the wallets of one shard, decides one command at a time, in order, and tells nobody before the log
 * holds what it tells. It talks to ports only.
 *
 *   submit ─> mailbox ─> decide, apply ─> forming ─depart─> flying ─land─> durable ─tell─> replies
 *                │   ^
 *                v   │
 *           archive's desk         names what is not in memory, and waits until the archive has said whether it has it
 *
 * This file has the states and the turns; what flies, and what happens to it, is in log-tail.ts.
 */
export class Shard implements FlightMember, Carrier {
  private wallets: Wallets | undefined = undefined;
  /** Undefined before the first recovery. */
  private tail: LogTail | undefined = undefined;
  private nowMs = 0;
  private readonly mailbox = new Queue<Request>();
  /** Undefined without an archive. */
  private readonly desk: ArchiveDesk | undefined;
  private forming: Batch = newBatch();
  private nextToForget = 0;
  /** While it follows. */
  private follower: Follower | undefined = undefined;
  /** Called when nothing flies any more, or it does not hand over any more. */
  private onStill: (() => void) | undefined = undefined;
  private stopReason: string | undefined = undefined;
  /** When what flies departed for the first time. Of the monotonic clock. */
  private departedMs = 0;
  /** Durable, and to be told in this very turn. */
  private untold: { readonly flight: Flight; readonly landedMs: number } | undefined = undefined;

  constructor(
    readonly id: number,
    private readonly deps: ShardDeps,
    public state: ShardState = 'starting',
  ) {
    const { archive, clock, limits } = deps;
    this.desk = archive && new ArchiveDesk(archive, this, clock, limits.mailboxMax);
  }

  get playerCount(): number {
    return this.wallets?.count ?? 0;
  }

  /** The newest entry known to be durable; undefined before the first recovery. */
  get durableHead(): Head | undefined {
    return this.follower?.head ?? this.tail?.head;
  }

  /** The newest entries, whose answers may have left; undefined before the first recovery. */
  get maybeRecent(): RecentEntries | undefined {
    return this.tail?.recent;
  }

  get recentEntries(): readonly SealedEntry[] {
    return this.follower?.recentEntries ?? this.tail?.recentEntries ?? NONE;
  }

  /** The newest entries that follow `head`; undefined when it is none of them. */
  maybeEntriesAfter(head: Head): readonly SealedEntry[] | undefined {
    return this.tail?.maybeEntriesAfter(head);
  }

  /** The newest record of the archive that the log relies on; undefined also where the log is not read here. */
  get archived(): ArchiveMark | undefined {
    return (this.follower ?? this.tail)?.tallies.archived;
  }

  /** The time of the log: no entry of it is newer. */
  get timeMs(): number {
    return this.follower?.timeMs ?? this.nowMs;
  }

  /** Bytes of its records, outside the heap. */
  get recordBytes(): { readonly all: number; readonly used: number } {
    const tables = this.wallets?.tables;
    return { all: tables?.bytes ?? 0, used: tables?.bytesUsed ?? 0 };
  }

  /** Packs the next player in turn, if nobody has asked for him since the last time. Some ten microseconds. */
  packNext(): void {
    try {
      this.wallets?.packNext();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A fraction of a millisecond of the work that keeps memory dense. */
  compact(): void {
    this.wallets?.tables.compact();
  }

  get waiting(): number {
    const { mailbox, desk, forming, tail } = this;
    return mailbox.length + (desk?.length ?? 0) + forming.commands.length + (tail?.flying?.commands.length ?? 0);
  }

  /** How long the log has not said what became of what flies; 0 when nothing does. Milliseconds. */
  get flightMs(): number {
    return this.tail?.flying === undefined ? 0 : this.deps.clock.monotonicMs() - this.departedMs;
  }

  get measures(): ShardMeasures {
    const { id: shard, waiting, tail, wallets } = this;
    return {
      shard,
      mailbox: this.mailbox.length,
      waiting,
      watermarks: tail?.watermarks ?? NOT_YET,
      epoch: tail?.head.lsn.epoch ?? 0,
      transactions: wallets?.transactionCount ?? 0,
      playersPacked: wallets?.packedCount ?? 0,
      recordBytes: this.recordBytes,
      entriesSinceSnapshot: tail?.entriesSinceSnapshot ?? 0,
    };
  }

  /** Why it has stopped; undefined otherwise. */
  get reason(): string | undefined {
    return this.stopReason;
  }

  /** What a snapshot is taken of, as it is now; undefined while the shard does not serve. */
  get source(): SnapshotSource | undefined {
    if (this.state !== 'serving' || this.wallets === undefined) return undefined;
    const { wallets, nowMs } = this;
    const { head, tallies, watermarks, logBytes, entriesSinceSnapshot } = this.mustTail();
    return { wallets, tallies, head, applied: watermarks.applied, timeMs: nowMs, logBytes, entriesSinceSnapshot };
  }

  /** A snapshot holds all but the `entries` newest entries. */
  snapshotTaken(entries: number): void {
    this.mustTail().entriesSinceSnapshot = entries;
  }

  /** Serves from a state that has been recovered from the log, after this owner's fence. */
  open(recovered: Recovered): void {
    const isReady = this.state === 'starting' || this.state === 'following';
    assert(isReady && this.tail?.flying === undefined, 'a shard opens once per recovery');
    this.follower = undefined;
    this.wallets = recovered.wallets;
    this.tail = new LogTail(this.id, recovered);
    this.nowMs = recovered.timeMs;
    this.state = 'serving';
  }

  /** Keeps the wallets of what another owner serves. */
  follow(follower: Follower): void {
    assert(this.state === 'away' || this.state === 'handing', 'a shard that is served or recovered is not followed');
    this.state = 'following';
    this.follower = follower;
    this.wallets = follower.wallets;
    this.tail = undefined;
  }

  /** Undefined while it does not follow. */
  get maybeFollower(): Follower | undefined {
    return this.follower;
  }

  /** It is another node's: drops what it has of it. */
  leave(): void {
    assert(this.tail?.flying === undefined, 'nothing flies of what is left');
    this.state = 'away';
    this.stopReason = undefined;
    this.drop(MOVED);
    this.follower?.end();
    this.follower = undefined;
    this.tail = undefined;
  }

  /**
   * Decides nothing more. Resolves to the newest entry when all that was decided has been told; to undefined when it does
   * not hand over any more before. Nothing else is undone: `resume`, or `release`.
   */
  async pause(): Promise<Head | undefined> {
    assert(this.state === 'serving', 'only who serves hands over');
    this.state = 'handing';
    this.turnAway(MOVED);
    if (!this.isStill) {
      await new Promise<void>((resolve) => {
        this.onStill = resolve;
      });
    }
    return this.isHanding && this.isStill ? this.mustTail().head : undefined;
  }

  /** Goes on as if nothing had been: whoever was to take over finds another head, or this owner does. */
  resume(): void {
    if (!this.isHanding) return;
    this.state = 'serving';
    this.settleStill();
  }

  /** What another owner goes on from, who has fenced it; undefined when it does not hand over any more. */
  maybeReached(): Recovered | undefined {
    return this.isHanding && this.isStill ? this.mustTail().reached(this.nowMs) : undefined;
  }

  /**
   * Another node says that it has fenced the log, which this one cannot reach to see for itself: it tells nothing more of what
   * it had decided. What is in flight stays there until the log says what became of it.
   */
  abandon(): void {
    if (!(this.isServing || this.isHanding)) return;
    const flight = this.mustTail().silence();
    if (flight !== undefined) answerAll(flight, UNSURE);
    this.state = 'fenced';
    this.drop(MOVED);
    if (flight === undefined) this.deps.onFenced(this, this.mustTail().head);
  }

  private get isHanding(): boolean {
    return this.state === 'handing';
  }

  private get isStill(): boolean {
    return this.tail?.flying === undefined && !hasReplies(this.forming);
  }

  private settleStill(): void {
    this.onStill?.();
    this.onStill = undefined;
  }

  /** Closes for good: the log cannot be continued. `reason` is for people. */
  stop(reason: string): void {
    this.state = 'stopped';
    this.stopReason = reason;
    this.drop(STOPPED);
  }

  /** It is another node's, as far as this one knows. */
  get isElsewhere(): boolean {
    return this.state === 'away' || this.state === 'following';
  }

  get isServing(): boolean {
    return this.state === 'serving';
  }

  maybeWallet(username: string): Wallet | undefined {
    return this.wallets?.get(username);
  }

  submit(asked: Request): void {
    const request = answeredOnce(asked, this.deps.log);
    if (this.state !== 'serving') {
      request.replier.reply(ANSWERS[this.state]);
    } else if (this.mailbox.length === 0 && !this.isFull()) {
      this.take(request);
    } else {
      this.dropLate();
      if (this.mailbox.length < this.deps.limits.mailboxMax) this.mailbox.push(request);
      else request.replier.reply(OVERLOADED);
    }
  }

  /** During an outage of the store, what waits takes memory that nobody counts once its sender was told "unknown". */
  private dropLate(): void {
    const nowMs = this.deps.clock.monotonicMs();
    for (
      let first = this.mailbox.peek();
      first !== undefined && first.deadlineMs <= nowMs;
      first = this.mailbox.peek()
    ) {
      this.mailbox.shift();
      first.replier.reply(TOO_LATE);
    }
  }

  /** Checks that the log is still ours, even while no request comes: a fenced owner must not linger. */
  confirmOwnership(): void {
    this.desk?.dropLate();
    if (this.state !== 'serving' || this.tail?.flying !== undefined || hasReplies(this.forming)) return;
    this.forming.queries.hold(DISCARD, { type: 'player', player: undefined });
    this.deps.requestFlight();
  }

  /** Forgets ids of rounds last changed before `expiredMs`, for the next `count` players in turn. */
  forgetSome(count: number, expiredMs: number): void {
    const wallets = this.wallets;
    if (wallets === undefined || this.state !== 'serving' || this.mailbox.length > 0) return;
    // By the day: forgetting walks over all that a player has.
    const beforeMs = startOfDay(expiredMs);
    for (let i = 0; i < Math.min(count, wallets.count) && this.state === 'serving' && !this.isFull(); i++) {
      if (this.nextToForget >= wallets.count) this.nextToForget = 0;
      const username = this.maybeForgettable(wallets, this.nextToForget++, beforeMs);
      if (username === undefined) continue;
      const command = { type: 'forget', username, beforeMs } as const;
      this.take({ type: 'command', command, replier: DISCARD, deadlineMs: Number.POSITIVE_INFINITY });
    }
  }

  /** Closes requests for money that no other operator has decided about in time. */
  expireRequests(): void {
    const { wallets } = this;
    if (wallets === undefined || this.state !== 'serving' || this.mailbox.length > 0) return;
    for (const { username, id } of wallets.expiredRequests(this.now())) {
      if (this.isFull() || !this.isServing) return;
      const command = { type: 'expire-request', username, id } as const;
      this.take({ type: 'command', command, replier: DISCARD, deadlineMs: Number.POSITIVE_INFINITY });
    }
  }

  /** The player at this position, if the player has something to forget. */
  private maybeForgettable(wallets: Wallets, position: number, beforeMs: number): string | undefined {
    try {
      if (wallets.peekAt(position)?.mayHaveOlderThan(beforeMs) !== true) return undefined;
      const wallet = wallets.at(position);
      return wallet !== undefined && hasForgettable(wallet, beforeMs) ? wallet.username : undefined;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  depart(): Append | undefined {
    const flying = this.tail?.flying;
    if (flying !== undefined) return flying.append;
    if (!(this.isServing || this.isHanding) || !hasReplies(this.forming)) return undefined;
    const batch = this.forming;
    this.forming = newBatch();
    let append: Append;
    try {
      append = this.mustTail().depart(batch);
      this.departedMs = this.deps.clock.monotonicMs();
    } catch (error) {
      answerAll(batch, STARTING);
      this.fail(error);
      return undefined;
    }
    this.drainMailbox();
    return append;
  }

  land(append: Append, outcome: AppendOutcome, tookMs: number): void {
    const tail = this.mustTail();
    const flight = tail.flying;
    try {
      this.landed(tail.land(append, outcome), tookMs);
      // What goes again took the place of what was formed meanwhile.
      if (tail.flying !== undefined || hasReplies(this.forming)) this.deps.requestFlight();
    } catch (error) {
      if (flight !== undefined) answerAll(flight, UNSURE);
      tail.flying = undefined;
      this.fail(error);
    }
  }

  private landed(landed: Landed, tookMs: number): void {
    switch (landed.type) {
      case 'arrived':
        this.arrived(landed.flight, tookMs);
        return;
      case 'again':
        if (landed.error !== undefined) {
          this.deps.observer.appendFailed(this.id, landed.error, this.deps.clock.monotonicMs());
        } else if (landed.found !== undefined) {
          const at = { shard: this.id, found: formatLsn(landed.found.lsn), lost: landed.lost };
          this.deps.log.warn(at, 'the store has lost acknowledged entries: appending them again');
        }
        return;
      case 'foreign':
        this.surrender(landed.flight, landed.head);
        return;
    }
  }

  private arrived(flight: Flight, tookMs: number): void {
    const { entry, lost, writer, decidedMs, commands, queries } = flight;
    if (lost > 0) this.deps.observer.healed(this.id, lost);
    const landedMs = this.deps.clock.monotonicMs();
    this.deps.observer.landed(this.id, {
      decidedMs,
      landedMs,
      replies: commands.length + queries.length,
      events: writer?.count ?? 0,
      bytes: entry?.bytes.length ?? 0,
      tookMs,
    });
    this.untold = { flight, landedMs };
  }

  tell(): void {
    if (this.untold === undefined) return;
    const { flight, landedMs } = this.untold;
    this.untold = undefined;
    flight.commands.release(landedMs);
    flight.queries.release(landedMs);
    // What has departed meanwhile lands first.
    if (this.tail?.flying !== undefined) return;
    if (this.state === 'failing') this.restart();
    if (this.state === 'fenced') this.deps.onFenced(this, this.mustTail().head);
    if (this.isHanding && this.isStill) this.settleStill();
  }

  /** The log is not ours any more, so nothing that waits for it may be told. */
  private surrender(flight: Flight, head: Head): void {
    answerAll(flight, UNSURE);
    const { head: mine, recentEntries } = this.mustTail();
    if (head.lsn.epoch > mine.lsn.epoch) {
      this.state = 'fenced';
      this.drop(MOVED);
      this.deps.onFenced(this, head);
    } else {
      const at = {
        shard: this.id,
        expected: formatLsn(mine.lsn),
        found: formatLsn(head.lsn),
        kept: recentEntries.length,
      };
      const reason = "the log's head is not ours, and no newer owner's: shard stopped; its log needs a person";
      this.stop(reason);
      this.deps.log.error(at, reason);
      this.deps.onDiverged(this);
    }
  }

  isFull(): boolean {
    const { writer, commands, queries } = this.forming;
    const { batchEventsMax, batchBytesMax, mailboxMax } = this.deps.limits;
    // Repeats, rejections and reads leave no event, and are held back all the same.
    if (commands.length + queries.length >= mailboxMax) return true;
    return writer !== undefined && (writer.count >= batchEventsMax || writer.byteLength >= batchBytesMax);
  }

  private drainMailbox(): void {
    this.desk?.goOn();
    while (this.mailbox.length > 0 && !this.isFull() && this.state === 'serving') {
      this.take(this.mailbox.shift() as Request);
    }
  }

  /** One turn of the actor. */
  private take(request: Request): void {
    const startedMs = this.deps.clock.monotonicMs();
    // A sender that was told "unknown" meanwhile may have sent a cancel behind it: it must not be done now.
    if (request.deadlineMs <= startedMs) {
      request.replier.reply(TOO_LATE);
      return;
    }
    try {
      if (this.desk?.takes(request) === true) return;
    } catch (error) {
      this.failAt(request, error);
      return;
    }
    this.carryOut(request, startedMs, undefined);
  }

  carryOut(request: Request, startedMs: number, found: Found | undefined): void {
    try {
      if (request.type === 'command') this.turn(request, startedMs);
      else this.forming.queries.hold(request.replier, this.answer(request.query, found));
    } catch (error) {
      this.failAt(request, error);
      return;
    }
    this.deps.requestFlight();
  }

  failAt(request: Request, error: unknown): void {
    request.replier.reply(STARTING);
    this.fail(error, request);
  }

  private answer(question: Query, found: Found | undefined): QueryResult {
    if (question.type !== 'read-tallies') return query(this.mustWallets(), question, found);
    return { type: 'tallies', tallies: this.mustTail().tallies.toJSON() };
  }

  private turn({ command, replier, deadlineMs }: Extract<Request, { type: 'command' }>, startedMs: number): void {
    const wallets = this.mustWallets();
    const nowMs = this.now();
    // The balance of a player who is packed is told without unpacking the player.
    const wallet = command.type === 'checkBalance' ? wallets.peek(command.username) : wallets.get(command.username);
    const decision = decide(wallet, command, this.deps.rules, nowMs);
    const { event } = decision;
    const currency = wallet?.currency ?? ('currency' in command ? command.currency : undefined);
    if (event !== undefined) {
      if (event.type === 'rounds-archived') this.desk?.noteLeft(event.username);
      if (this.deps.memory.isFull && opensSomething(event)) {
        replier.reply(MEMORY_FULL);
        return;
      }
      if (!this.deps.format.canWrite(event)) {
        replier.reply(UPGRADING);
        return;
      }
      if (wallet === undefined) apply(wallets, event);
      else applyIn(wallet, event as WalletEvent);
      if (this.forming.writer === undefined) {
        this.forming.writer = this.deps.format.beginBatch(nowMs);
        this.mustTail().watermarks.applied++;
      }
      this.forming.writer.add(event);
      this.forming.events.push({ currency: must(currency, 'what changes a wallet knows its currency'), event });
    }
    this.forming.commands.hold(replier, decision.answer);
    const endedMs = this.deps.clock.monotonicMs();
    this.forming.decidedMs.push(endedMs);
    this.deps.observer.decided(this.id, { command, decision, currency, deadlineMs, startedMs, endedMs });
  }

  /** The shard's clock, which never goes back: no event that comes is older. */
  now(): number {
    this.nowMs = Math.max(this.nowMs, this.deps.clock.now());
    return this.nowMs;
  }

  /**
   * One of our assertions failed: memory can no longer be trusted. What is in flight was decided before, and its answers
   * leave when it is durable; everything later is dropped, and the shard recovers from its log. `request` is the one that
   * failed.
   */
  private fail(error: unknown, request?: Request): void {
    const wasFollowing = this.state === 'following';
    this.state = 'failing';
    this.deps.observer.failed(this.id);
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const kind = error instanceof AssertionFailure ? 'assertion failed' : 'unexpected error';
    this.deps.log.error(
      { shard: this.id, ...(request && aboutOf(request)), error: message },
      `${kind}: shard drops its memory and recovers from its log`,
    );
    if (wasFollowing) {
      this.leave();
      return;
    }
    this.drop(STARTING);
    if (this.tail?.flying === undefined) this.restart();
  }

  private restart(): void {
    this.state = 'starting';
    this.deps.onFailed(this);
  }

  private drop(answer: BusyAnswer): void {
    this.wallets = undefined;
    const batch = this.forming;
    this.forming = newBatch();
    answerAll(batch, answer);
    this.turnAway(answer);
    this.settleStill();
  }

  /** What has not been decided. */
  private turnAway(answer: BusyAnswer): void {
    for (let request = this.mailbox.shift(); request !== undefined; request = this.mailbox.shift()) {
      request.replier.reply(answer);
    }
    this.desk?.dropAll(answer);
  }

  private mustWallets(): Wallets {
    assert(this.wallets !== undefined, 'a serving shard has wallets');
    return this.wallets;
  }

  private mustTail(): LogTail {
    assert(this.tail !== undefined, 'a shard that has served knows the end of its log');
    return this.tail;
  }
}

/** What people look for in a log. */
function aboutOf(request: Request): { request: string; requestId?: string; username?: string } {
  const asked: Command | Query = request.type === 'command' ? request.command : request.query;
  return {
    request: asked.type,
    ...('id' in asked && { requestId: asked.id }),
    ...('username' in asked && { username: asked.username }),
  };
}

/** True when an event makes memory grow by something that must be kept until it is closed. */
function opensSomething(event: Event): boolean {
  if (event.type === 'player-created' || event.type === 'player-imported' || event.type === 'money-requested')
    return true;
  if (event.type !== 'callback-applied') return false;
  return event.changes.some(({ type }) => CHANGES[type].opens);
}
