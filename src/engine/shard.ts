import { ArchiveGate, type GateClient } from '../archive/archive-gate.js';
import type { ShardArchive } from '../archive/shard-archive.js';
import type { Found } from '../archive/waiting-players.js';
import { assert, must } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { Queue } from '../base/queue.js';
import type { Replier } from '../base/replier.js';
import { startOfDay } from '../base/time.js';
import type { Follower } from '../log/follower.js';
import type { Recovered } from '../log/recovery.js';
import { formatLsn } from '../ports/lsn.js';
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
} from '../ports/request.js';
import type { ShardObserver } from '../ports/shard-observer.js';
import type { Append, AppendOutcome, EncodedEntry, EntryFormat, Head } from '../ports/wal.js';
import { apply, applyIn, type WalletEvent } from '../wallet/apply.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';
import { CHANGES } from '../wallet/changes.js';
import type { Command } from '../wallet/command.js';
import { decide } from '../wallet/decide/decide.js';
import type { Rules } from '../wallet/decide/rules.js';
import type { Answer } from '../wallet/decision.js';
import type { Event } from '../wallet/event.js';
import type { LedgerTotals } from '../wallet/ledger-totals.js';
import { query } from '../wallet/queries/query.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { hasForgettable } from '../wallet/retention.js';
import type { Wallet } from '../wallet/state/wallet.js';
import type { Wallets } from '../wallet/state/wallets.js';
import { answerAll, type Batch, hasReplies, newBatch } from './batch.js';
import type { FlushMember } from './group-commit.js';
import { type AppendResult, LogTail, type PendingAppend } from './log-tail.js';
import type { Watermarks } from './watermarks.js';

/**
 *                 ┌──────────────── recovered ───────────────┐
 *                 v                                          │
 *   starting ─> serving ── assertion ─> failing ─ recover ─> starting     again too soon: stopped
 *      │          │ └────── another owner's fence ─> fenced
 *      │          └──────── a head that is not ours ─> stopped       a head that was ours: the lost entries go in again
 *      └─ a log that cannot be continued ─> stopped
 *
 * A failing shard also becomes fenced or stopped if its append finds another owner's head. In a cluster, where several
 * nodes share the shards:
 *
 *   away ── its log was read ─> following ── our fence ─> serving <─ resumed ─ handing
 *     ^                             │  ^                   │  └────── paused ────^  │
 *     └───── unloaded or useless ───┘  └───────────────────│──── released ──────────┘
 *   fenced ─> away                                         └─ another owner's fence ─> fenced
 */
export type ShardState =
  | 'starting'
  | 'serving'
  | 'failing'
  | 'fenced'
  | 'stopped'
  /** Remote: another node owns the shard. */
  | 'away'
  /** Standby: another node owns the shard; this node follows its log. */
  | 'following'
  /** Draining: decides no more requests, so that another node can take over. */
  | 'handing';

export interface ShardLimits {
  /**
   * Maximum number of requests that wait because the entry being formed is full. Also the maximum number of replies
   * that wait for one entry.
   */
  readonly mailboxMax: number;
  /**
   * Soft limits for one entry. All events of a command are part of the same entry, so an entry can exceed the limits.
   */
  readonly batchEventsMax: number;
  readonly batchBytesMax: number;
}

/** Measurements of a shard. */
export interface ShardMeasures {
  readonly shard: number;
  /** Number of requests that wait for the next entry. */
  readonly mailbox: number;
  /** Maximum number of requests in `mailbox`. */
  readonly mailboxMax: number;
  /**
   * Number of commands that have not been answered: those in the mailbox, and those whose replies are held back until
   * an entry is durable.
   */
  readonly waiting: number;
  readonly watermarks: Pick<Watermarks, 'applied' | 'appended' | 'durable'>;
  readonly epoch: number;
  readonly transactions: number;
  /** Number of hibernated players. Each of them takes one packed record and a few words. */
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
  /** The archive for closed rounds; undefined if all rounds stay in memory. */
  readonly archive: ShardArchive | undefined;
  readonly observer: ShardObserver;
  /** Requests a flush; see GroupCommit. */
  readonly requestFlush: () => void;
  /** Called when the shard has dropped its memory and no append is pending: it can recover from its log. */
  readonly onFailed: () => void;
  /** Called when another owner has fenced the shard's log; `head` is that owner's head. */
  readonly onFenced: (head: Head) => void;
  /** Called when the shard's log ends in a head that neither this owner nor a newer owner wrote. */
  readonly onDiverged: () => void;
}

/** The wallets of a serving shard, for a snapshot. The wallets continue to change. */
export interface SnapshotSource {
  /** A recovery of the shard creates a new object. */
  readonly wallets: Wallets;
  /** The newest durable entry. */
  readonly head: Head;
  /** The sequence of the newest entry whose events are in `wallets`; this may be the entry that is being formed. */
  readonly applied: number;
  readonly timeMs: number;
  /** Ledger totals of the log up to `head`. The object continues to change with the log. */
  readonly totals: LedgerTotals;
  /** Size of the log in bytes, from its first entry up to `head`. */
  readonly logBytes: number;
  /** Number of durable entries with events that are in no snapshot. */
  readonly entriesSinceSnapshot: number;
}

const NONE: readonly EncodedEntry[] = [];
const NOT_YET: Pick<Watermarks, 'applied' | 'appended' | 'durable'> = { applied: 0, appended: 0, durable: 0 };
/** Answers that a shard gives while it is not serving, by state. */
const ANSWERS: Readonly<Record<Exclude<ShardState, 'serving'>, BusyAnswer>> = {
  starting: STARTING,
  failing: STARTING,
  stopped: STOPPED,
  fenced: MOVED,
  away: MOVED,
  following: MOVED,
  handing: MOVED,
};
/** Replier for requests that the shard itself made. It discards the answer. */
const DISCARD: Replier<Answer | QueryResult | BusyAnswer> = { reply() {} };

/**
 * The actor that owns the wallets of one shard. It decides one command at a time, in order, and releases a reply only
 * once the log contains the state that the reply shows. The actor performs no I/O of its own and uses only the ports
 * that it is given.
 *
 *   submit ─> mailbox ─> decide, apply ─> forming ─append─> pending ─complete─> durable ─release─> replies
 *                │   ^
 *                v   │
 *           archive gate           parks requests for data that is not in memory until the archive has answered
 *
 * This file contains the states and turns. The pending append and its outcome are in log-tail.ts.
 */
export class Shard implements FlushMember, GateClient {
  private wallets: Wallets | undefined = undefined;
  /** The end of the shard's log; undefined before the first recovery. */
  private tail: LogTail | undefined = undefined;
  private nowMs = 0;
  private readonly mailbox = new Queue<Request>();
  /** Gate for requests that need the archive; undefined if there is no archive. */
  private readonly archiveGate: ArchiveGate | undefined;
  private forming: Batch = newBatch();
  private nextToForget = 0;
  /** The copy that follows the owner's log. Set while this node is standby for the shard. */
  private follower: Follower | undefined = undefined;
  /** Called when the shard is drained or stops draining. */
  private onDrained: (() => void) | undefined = undefined;
  private stopReason: string | undefined = undefined;
  /** The time at which the pending append was first sent, on the monotonic clock. */
  private appendedMs = 0;
  /** Replies that have become durable and that the shard releases later in this turn. */
  private pendingReplies: { readonly pending: PendingAppend; readonly completedMs: number } | undefined = undefined;

  constructor(
    readonly id: number,
    private readonly deps: ShardDeps,
    public state: ShardState = 'starting',
  ) {
    const { archive, clock, limits } = deps;
    this.archiveGate = archive && new ArchiveGate(archive, this, clock, limits.mailboxMax);
  }

  get playerCount(): number {
    return this.wallets?.count ?? 0;
  }

  /** The newest entry known to be durable; undefined before the first recovery. */
  get durableHead(): Head | undefined {
    return this.follower?.head ?? this.tail?.head;
  }

  get recentEntries(): readonly EncodedEntry[] {
    return this.follower?.recentEntries ?? this.tail?.recentEntries ?? NONE;
  }

  /** The kept entries after `head`; undefined if `head` is not one of the kept entries. */
  findEntriesAfter(head: Head): readonly EncodedEntry[] | undefined {
    return this.tail?.findEntriesAfter(head);
  }

  /**
   * The newest archive record that the log relies on. Undefined if there is none, or if this node does not read the
   * log.
   */
  get archived(): ArchiveMark | undefined {
    return (this.follower ?? this.tail)?.totals.archived;
  }

  /** Log time: upper bound of all entry timestamps, in ms. */
  get timeMs(): number {
    return this.follower?.timeMs ?? this.nowMs;
  }

  /** Size of the player records outside the heap, in bytes. */
  get recordBytes(): { readonly all: number; readonly used: number } {
    const tables = this.wallets?.tables;
    return { all: tables?.bytes ?? 0, used: tables?.bytesUsed ?? 0 };
  }

  /**
   * Hibernates the next player in turn, unless a request has used that player since the previous pass. Takes about ten
   * microseconds.
   */
  hibernateNext(): void {
    try {
      this.wallets?.hibernateNext();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Runs a short step of memory compaction, which takes a fraction of a millisecond. */
  compact(): void {
    this.wallets?.tables.compact();
  }

  get waiting(): number {
    const { mailbox, archiveGate, forming, tail } = this;
    return mailbox.length + (archiveGate?.length ?? 0) + forming.commands.length + (tail?.flying?.commands.length ?? 0);
  }

  /** Age of the pending append, in ms; 0 when no append is pending. */
  get pendingAppendMs(): number {
    return this.tail?.flying === undefined ? 0 : this.deps.clock.monotonicMs() - this.appendedMs;
  }

  get measures(): ShardMeasures {
    const { id: shard, waiting, tail, wallets } = this;
    return {
      shard,
      mailbox: this.mailbox.length,
      mailboxMax: this.deps.limits.mailboxMax,
      waiting,
      watermarks: tail?.watermarks ?? NOT_YET,
      epoch: tail?.head.lsn.epoch ?? 0,
      transactions: wallets?.transactionCount ?? 0,
      playersPacked: wallets?.packedCount ?? 0,
      recordBytes: this.recordBytes,
      entriesSinceSnapshot: tail?.entriesSinceSnapshot ?? 0,
    };
  }

  /** The reason why the shard has stopped; undefined if it has not. */
  get reason(): string | undefined {
    return this.stopReason;
  }

  /** The current state for a snapshot; undefined while the shard is not serving. */
  get source(): SnapshotSource | undefined {
    if (this.state !== 'serving' || this.wallets === undefined) return undefined;
    const { wallets, nowMs } = this;
    const { head, totals, watermarks, logBytes, entriesSinceSnapshot } = this.mustTail();
    return { wallets, totals, head, applied: watermarks.applied, timeMs: nowMs, logBytes, entriesSinceSnapshot };
  }

  /** Records that a new snapshot contains all log entries except the newest `entries`. */
  snapshotTaken(entries: number): void {
    this.mustTail().entriesSinceSnapshot = entries;
  }

  /** True after a failed assertion, once no append is pending. */
  get canRecover(): boolean {
    return this.state === 'failing' && this.tail?.flying === undefined;
  }

  /** Begins the recovery from a failed assertion, which `open`, `stop` or `giveUp` ends. */
  recover(): void {
    assert(this.canRecover, 'a recovery follows a failed assertion');
    this.state = 'starting';
  }

  /** Starts to serve with a state that was recovered from the log up to this owner's fence. */
  open(recovered: Recovered): void {
    const isReady = this.state === 'starting' || this.state === 'following';
    assert(isReady && this.tail?.flying === undefined, 'a shard opens once per recovery');
    this.follower = undefined;
    this.wallets = recovered.wallets;
    this.tail = new LogTail(this.id, recovered);
    this.nowMs = recovered.timeMs;
    this.state = 'serving';
  }

  /** Becomes standby: keeps the wallets up to date while another owner serves the shard. */
  follow(follower: Follower): void {
    assert(this.state === 'away' || this.state === 'handing', 'only a remote or draining shard becomes standby');
    this.state = 'following';
    this.follower = follower;
    this.wallets = follower.wallets;
    this.tail = undefined;
  }

  /** The shard's follower; undefined while this node is not standby for the shard. */
  get currentFollower(): Follower | undefined {
    return this.follower;
  }

  /** Discards the local copy, because the shard now belongs to another node. */
  leave(): void {
    assert(this.tail?.flying === undefined, 'a shard is unloaded without a pending append');
    this.state = 'away';
    this.stopReason = undefined;
    this.drop(MOVED);
    this.follower?.end();
    this.follower = undefined;
    this.tail = undefined;
  }

  /**
   * Starts draining: the shard decides no more requests. Resolves to the newest entry once all pending replies have
   * been released. The caller must then end draining with `resume`, `follow` or `leave`. Resolves to undefined if
   * draining ends early.
   */
  async pause(): Promise<Head | undefined> {
    assert(this.state === 'serving', 'only a serving shard starts draining');
    this.state = 'handing';
    this.turnAway(MOVED);
    if (!this.isDrained) {
      await new Promise<void>((resolve) => {
        this.onDrained = resolve;
      });
    }
    return this.isDraining && this.isDrained ? this.mustTail().head : undefined;
  }

  /**
   * Serves again after draining. If another node has fenced the log in the meantime, this owner's next append
   * conflicts. If that node's fence arrives only after the append, the fence conflicts.
   */
  resume(): void {
    if (!this.isDraining) return;
    this.state = 'serving';
    this.settleDrained();
  }

  /**
   * The state from which a standby can continue once another owner has fenced the log; undefined unless the shard is
   * drained.
   */
  tryReached(): Recovered | undefined {
    return this.isDraining && this.isDrained ? this.mustTail().reached(this.nowMs) : undefined;
  }

  /**
   * Stops releasing replies. Called when another node reports that it has fenced the log and this node cannot reach the
   * log to verify the report. The pending append stays pending until the log reports its outcome.
   */
  abandon(): void {
    if (!(this.isServing || this.isDraining || this.state === 'failing')) return;
    const pending = this.mustTail().silence();
    if (pending !== undefined) answerAll(pending, UNSURE);
    this.state = 'fenced';
    this.drop(MOVED);
    if (pending === undefined) this.deps.onFenced(this.mustTail().head);
  }

  private get isDraining(): boolean {
    return this.state === 'handing';
  }

  private get isDrained(): boolean {
    return this.tail?.flying === undefined && !hasReplies(this.forming);
  }

  private settleDrained(): void {
    this.onDrained?.();
    this.onDrained = undefined;
  }

  /** Stops permanently, because the log cannot be continued. `reason` is human-readable. */
  stop(reason: string): void {
    this.state = 'stopped';
    this.stopReason = reason;
    this.drop(STOPPED);
  }

  /** Gives up a shard whose log another owner has taken. `reason` is human-readable. */
  giveUp(reason: string): void {
    this.state = 'fenced';
    this.stopReason = reason;
    this.drop(MOVED);
  }

  /** True if another node owns the shard, as far as this node knows. */
  get isElsewhere(): boolean {
    return this.state === 'away' || this.state === 'following';
  }

  get isServing(): boolean {
    return this.state === 'serving';
  }

  findWallet(username: string): Wallet | undefined {
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

  /**
   * Drops expired requests, whose senders have already received "unknown". Otherwise these requests would fill memory
   * during an outage, because no limit counts them.
   */
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

  /**
   * Checks that this process still owns the log. This happens even without requests, so that a fenced owner notices.
   */
  confirmOwnership(): void {
    this.archiveGate?.dropLate();
    if (this.state !== 'serving' || this.tail?.flying !== undefined || hasReplies(this.forming)) return;
    this.forming.queries.hold(DISCARD, { type: 'player', player: undefined });
    this.deps.requestFlush();
  }

  /** Forgets the ids of rounds last changed before `expiredMs`, for the next `count` players in turn. */
  forgetSome(count: number, expiredMs: number): void {
    const wallets = this.wallets;
    if (wallets === undefined || this.state !== 'serving' || this.mailbox.length > 0) return;
    // Round down to whole days, because forgetting visits all of the player's items and should happen at most once a
    // day.
    const beforeMs = startOfDay(expiredMs);
    for (let i = 0; i < Math.min(count, wallets.count) && this.state === 'serving' && !this.isFull(); i++) {
      if (this.nextToForget >= wallets.count) this.nextToForget = 0;
      const username = this.findForgettable(wallets, this.nextToForget++, beforeMs);
      if (username === undefined) continue;
      const command = { type: 'forget', username, beforeMs } as const;
      this.take({ type: 'command', command, replier: DISCARD, deadlineMs: Number.POSITIVE_INFINITY });
    }
  }

  /** Closes requests for money movements that no second operator has decided in time. */
  expireRequests(): void {
    const { wallets } = this;
    if (wallets === undefined || this.state !== 'serving' || this.mailbox.length > 0) return;
    for (const { username, id } of wallets.expiredRequests(this.now())) {
      if (this.isFull() || !this.isServing) return;
      const command = { type: 'expire-request', username, id } as const;
      this.take({ type: 'command', command, replier: DISCARD, deadlineMs: Number.POSITIVE_INFINITY });
    }
  }

  /** Username of the player at this position; undefined if that player has nothing to forget. */
  private findForgettable(wallets: Wallets, position: number, beforeMs: number): string | undefined {
    try {
      if (wallets.peekAt(position)?.mayHaveOlderThan(beforeMs) !== true) return undefined;
      const wallet = wallets.at(position);
      return wallet !== undefined && hasForgettable(wallet, beforeMs) ? wallet.username : undefined;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  takeAppend(): Append | undefined {
    const flying = this.tail?.flying;
    if (flying !== undefined) return flying.append;
    if (!(this.isServing || this.isDraining) || !hasReplies(this.forming)) return undefined;
    const batch = this.forming;
    this.forming = newBatch();
    let append: Append;
    try {
      append = this.mustTail().formAppend(batch);
      this.appendedMs = this.deps.clock.monotonicMs();
    } catch (error) {
      answerAll(batch, STARTING);
      this.fail(error);
      return undefined;
    }
    this.drainMailbox();
    return append;
  }

  appendCompleted(append: Append, outcome: AppendOutcome, tookMs: number): void {
    const tail = this.mustTail();
    const pending = tail.flying;
    try {
      this.handleResult(tail.complete(append, outcome), tookMs);
      // If the append must be retried, or if requests were decided in the meantime, another flush is needed.
      if (tail.flying !== undefined || hasReplies(this.forming)) this.deps.requestFlush();
    } catch (error) {
      if (pending !== undefined) answerAll(pending, UNSURE);
      tail.flying = undefined;
      this.fail(error);
    }
  }

  private handleResult(result: AppendResult, tookMs: number): void {
    switch (result.type) {
      case 'arrived':
        this.arrived(result.append, tookMs);
        return;
      case 'again':
        if (result.error !== undefined) {
          this.deps.observer.appendFailed(this.id, result.error, this.deps.clock.monotonicMs());
        } else if (result.found !== undefined) {
          const at = {
            code: 'entries-reappended',
            shard: this.id,
            found: formatLsn(result.found.lsn),
            lost: result.lost,
          };
          this.deps.log.warn(at, 'store lost acknowledged entries, appending them again');
        }
        return;
      case 'foreign':
        this.surrender(result.append, result.head);
        return;
    }
  }

  private arrived(pending: PendingAppend, tookMs: number): void {
    const { entry, lost, writer, decidedMs, commands, queries } = pending;
    if (lost > 0) this.deps.observer.healed(this.id, lost);
    const completedMs = this.deps.clock.monotonicMs();
    this.deps.observer.appendCompleted(this.id, {
      decidedMs,
      completedMs,
      replies: commands.length + queries.length,
      events: writer?.count ?? 0,
      bytes: entry?.bytes.length ?? 0,
      tookMs,
    });
    this.pendingReplies = { pending, completedMs };
  }

  releaseReplies(): void {
    if (this.pendingReplies === undefined) return;
    const { pending, completedMs } = this.pendingReplies;
    this.pendingReplies = undefined;
    pending.commands.release(completedMs);
    pending.queries.release(completedMs);
    // The next append has already started, so wait for its outcome.
    if (this.tail?.flying !== undefined) return;
    if (this.state === 'failing') this.deps.onFailed();
    if (this.state === 'fenced') this.deps.onFenced(this.mustTail().head);
    if (this.isDraining && this.isDrained) this.settleDrained();
  }

  /** Handles the loss of the log to another writer. Answers all waiting requests, but not with the decided results. */
  private surrender(pending: PendingAppend, head: Head): void {
    answerAll(pending, UNSURE);
    const { head: mine, recentEntries } = this.mustTail();
    if (head.lsn.epoch > mine.lsn.epoch) {
      this.state = 'fenced';
      this.drop(MOVED);
      this.deps.onFenced(head);
    } else {
      const at = {
        code: 'log-diverged',
        shard: this.id,
        expected: formatLsn(mine.lsn),
        found: formatLsn(head.lsn),
        kept: recentEntries.length,
      };
      const reason =
        "the log's head belongs neither to this owner nor to a newer one: shard stopped; an engineer must examine its log";
      this.stop(reason);
      this.deps.log.error(at, 'log diverged, shard stopped');
      this.deps.onDiverged();
    }
  }

  isFull(): boolean {
    const { writer, commands, queries } = this.forming;
    const { batchEventsMax, batchBytesMax, mailboxMax } = this.deps.limits;
    // Repeats, rejections and reads cause no event, but their replies are also held back until the state that they show
    // is durable.
    if (commands.length + queries.length >= mailboxMax) return true;
    return writer !== undefined && (writer.count >= batchEventsMax || writer.byteLength >= batchBytesMax);
  }

  private drainMailbox(): void {
    this.archiveGate?.goOn();
    while (this.mailbox.length > 0 && !this.isFull() && this.state === 'serving') {
      this.take(this.mailbox.shift() as Request);
    }
  }

  /** Executes one request, unless it has expired. */
  private take(request: Request): void {
    const startedMs = this.deps.clock.monotonicMs();
    // The sender received "unknown" at the deadline and may have sent a cancel since, so the request must not be
    // executed now.
    if (request.deadlineMs <= startedMs) {
      request.replier.reply(TOO_LATE);
      return;
    }
    try {
      if (this.archiveGate?.takes(request) === true) return;
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
    this.deps.requestFlush();
  }

  failAt(request: Request, error: unknown): void {
    request.replier.reply(STARTING);
    this.fail(error, request);
  }

  private answer(question: Query, found: Found | undefined): QueryResult {
    if (question.type !== 'read-tallies') return query(this.mustWallets(), question, found);
    return { type: 'tallies', tallies: this.mustTail().totals.toJSON() };
  }

  private turn({ command, replier, deadlineMs }: Extract<Request, { type: 'command' }>, startedMs: number): void {
    const wallets = this.mustWallets();
    const nowMs = this.now();
    // A balance check reads the balance without waking a hibernated player.
    const wallet = command.type === 'checkBalance' ? wallets.peek(command.username) : wallets.get(command.username);
    const decision = decide(wallet, command, this.deps.rules, nowMs);
    const { event } = decision;
    const currency = wallet?.currency ?? ('currency' in command ? command.currency : undefined);
    if (event !== undefined) {
      if (event.type === 'rounds-archived') this.archiveGate?.noteEvicted(event.username);
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
      this.forming.events.push({ currency: must(currency, 'a command that changes a wallet has a currency'), event });
    }
    this.forming.commands.hold(replier, decision.answer);
    const endedMs = this.deps.clock.monotonicMs();
    this.forming.decidedMs.push(endedMs);
    this.deps.observer.decided(this.id, { command, decision, currency, deadlineMs, startedMs, endedMs });
  }

  /** Advances log time and returns it. Log time never goes back, so no event is older than an earlier one. */
  now(): number {
    this.nowMs = Math.max(this.nowMs, this.deps.clock.now());
    return this.nowMs;
  }

  /**
   * Handles a failed assertion, after which memory can no longer be trusted. The requests in the pending append were
   * decided earlier, so their replies are still released once that append is durable. The shard drops all later
   * requests and recovers from its log. `request` is the request that failed.
   */
  private fail(error: unknown, request?: Request): void {
    const wasFollowing = this.state === 'following';
    this.state = 'failing';
    this.deps.observer.failed(this.id);
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.deps.log.error(
      { code: 'shard-failed', shard: this.id, ...(request && aboutOf(request)), error: message },
      'shard failed, recovering it from its log',
    );
    if (wasFollowing) {
      this.leave();
      return;
    }
    this.drop(STARTING);
    if (this.tail?.flying === undefined) this.deps.onFailed();
  }

  private drop(answer: BusyAnswer): void {
    this.wallets = undefined;
    const batch = this.forming;
    this.forming = newBatch();
    answerAll(batch, answer);
    this.turnAway(answer);
    this.settleDrained();
  }

  /** Answers all undecided requests with this answer. */
  private turnAway(answer: BusyAnswer): void {
    for (let request = this.mailbox.shift(); request !== undefined; request = this.mailbox.shift()) {
      request.replier.reply(answer);
    }
    this.archiveGate?.dropAll(answer);
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

/** Log fields with which operators search for a request. */
function aboutOf(request: Request): { request: string; requestId?: string; username?: string } {
  const asked: Command | Query = request.type === 'command' ? request.command : request.query;
  return {
    request: asked.type,
    ...('id' in asked && { requestId: asked.id }),
    ...('username' in asked && { username: asked.username }),
  };
}

/** True if the event adds an item that stays in memory until a later event closes it. */
function opensSomething(event: Event): boolean {
  if (event.type === 'player-created' || event.type === 'player-imported' || event.type === 'money-requested')
    return true;
  if (event.type !== 'callback-applied') return false;
  return event.changes.some(({ type }) => CHANGES[type].opens);
}
