import { AssertionFailure, assert, must, unreachable } from '../base/assert.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { Queue } from '../base/queue.js';
import type { Replier } from '../base/replier.js';
import { startOfDay } from '../base/time.js';
import { apply, applyIn, type WalletEvent } from '../wallet/apply.js';
import type { Command } from '../wallet/command.js';
import { decide } from '../wallet/decide/decide.js';
import type { Rules } from '../wallet/decide/rules.js';
import type { Answer } from '../wallet/decision.js';
import type { Event } from '../wallet/event.js';
import { type Query, type QueryResult, query } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { hasForgettable } from '../wallet/retention.js';
import type { Wallets } from '../wallet/state/wallets.js';
import type { RoundMember } from './group-commit.js';
import { formatLsn } from './log/lsn.js';
import { PIECE_ENTRIES, type RecentEntries } from './log/recent-entries.js';
import type { Recovered } from './log/recovery.js';
import {
  type Append,
  type AppendOutcome,
  type BatchWriter,
  type EntryFormat,
  type Head,
  isSameHead,
  type SealedEntry,
} from './log/wal.js';
import { ReplyBarrier } from './reply-barrier.js';
import { MEMORY_FULL, OVERLOADED, type Request, STARTING, STOPPED, TOO_LATE } from './request.js';
import type { ShardObserver } from './shard-observer.js';
import { Watermarks } from './watermarks.js';

/**
 *                 ┌──────────────── recovered ───────────────┐
 *                 v                                          │
 *   starting ─> serving ── assertion ─> failing ─ landed ─> starting      again too soon: stopped
 *      │          │ └────── another owner's fence ─> fenced
 *      │          └──────── a head that is not ours ─> stopped       a head that was ours: the lost entries go in again
 *      └─ a log that cannot be continued ─> stopped
 *
 * While it fails, what lands can find another's head as well: then it is fenced or stopped.
 */
export type ShardState = 'starting' | 'serving' | 'failing' | 'fenced' | 'stopped';

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
  /** Of all players those that nobody has touched since they came with a snapshot. */
  readonly playersPacked: number;
  /** Of the players who are not packed. */
  readonly transactions: number;
  readonly entriesSinceSnapshot: number;
}

export interface ShardDeps {
  readonly format: EntryFormat;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rules: Rules;
  readonly limits: ShardLimits;
  readonly memory: { readonly isFull: boolean };
  readonly observer: ShardObserver;
  /** Asks for a flight; see GroupCommit. */
  readonly requestRound: () => void;
  /** The shard has no state any more and wants to be recovered from its log. */
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
  /** Of the log from its first entry of all up to `head`. */
  readonly logBytes: number;
  /** Durable entries with events that no snapshot holds. */
  readonly entriesSinceSnapshot: number;
}

/** What is decided for one entry: its events, and the answers that wait for it. */
interface Batch {
  writer: BatchWriter | undefined;
  readonly commands: ReplyBarrier<Answer>;
  /** When each of the commands had been decided. */
  readonly decidedMs: number[];
  readonly queries: ReplyBarrier<QueryResult | BusyAnswer>;
}

interface Flight extends Batch {
  readonly entry: SealedEntry | undefined;
  readonly append: Append;
  /** What the store had lost goes in again in pieces: the ones behind `append`, up to `entry`. */
  readonly toFollow: readonly SealedEntry[];
  /** How many entries the store had lost. */
  readonly lost: number;
}

const WARN_EVERY_MS = 1000;
const NOTHING: readonly SealedEntry[] = [];
const NOBODY: Replier<Answer | QueryResult | BusyAnswer> = { reply() {} };

/**
 * The actor: owns the wallets of one shard, decides one command at a time, in order, and tells nobody before the log
 * holds what it tells. It talks to ports only.
 *
 *   submit ─> mailbox ─> decide, apply ─> forming ─depart─> flying ─land─> replies
 */
export class Shard implements RoundMember {
  state: ShardState = 'starting';
  private wallets: Wallets | undefined = undefined;
  private watermarks = new Watermarks({ epoch: 0, sequence: 0 });
  /** The newest entry this owner knows to be durable. */
  private head: Head | undefined = undefined;
  private recent: RecentEntries | undefined = undefined;
  private nowMs = 0;
  private readonly mailbox = new Queue<Request>();
  private forming: Batch = newBatch();
  private flying: Flight | undefined = undefined;
  private nextToForget = 0;
  private logBytes = 0;
  private entriesSinceSnapshot = 0;
  private stopReason: string | undefined = undefined;
  private warnedMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly id: number,
    private readonly deps: ShardDeps,
  ) {}

  get playerCount(): number {
    return this.wallets?.count ?? 0;
  }

  /** The newest entry known to be durable; undefined before the first recovery. */
  get durableHead(): Head | undefined {
    return this.head;
  }

  /** The newest entries whose answers may have been told. */
  get recentEntries(): readonly SealedEntry[] {
    return this.recent?.all() ?? [];
  }

  /** Of the newest entries those that follow `head`; undefined when it is none of them. */
  maybeEntriesAfter(head: Head): readonly SealedEntry[] | undefined {
    return this.recent?.maybeAfter(head);
  }

  /** Of the log: no entry of it is newer. */
  get timeMs(): number {
    return this.nowMs;
  }

  get waiting(): number {
    return this.mailbox.length + this.forming.commands.length + (this.flying?.commands.length ?? 0);
  }

  get measures(): ShardMeasures {
    const { id: shard, waiting, watermarks, entriesSinceSnapshot } = this;
    return {
      shard,
      mailbox: this.mailbox.length,
      waiting,
      watermarks,
      epoch: this.head?.lsn.epoch ?? 0,
      playersPacked: this.wallets?.packedCount ?? 0,
      transactions: this.wallets?.transactionCount ?? 0,
      entriesSinceSnapshot,
    };
  }

  /** Why it has stopped; undefined otherwise. */
  get reason(): string | undefined {
    return this.stopReason;
  }

  /** What a snapshot is taken of, as it is now; undefined while the shard does not serve. */
  get source(): SnapshotSource | undefined {
    if (this.state !== 'serving' || this.wallets === undefined) return undefined;
    const { wallets, logBytes, entriesSinceSnapshot, nowMs } = this;
    const { applied } = this.watermarks;
    return { wallets, head: this.mustHead(), applied, timeMs: nowMs, logBytes, entriesSinceSnapshot };
  }

  /** A snapshot holds all but the `entries` newest entries. */
  snapshotTaken(entries: number): void {
    this.entriesSinceSnapshot = entries;
  }

  /** Serves from a state that has been recovered from the log, after this owner's fence. */
  open(recovered: Recovered): void {
    assert(this.state === 'starting' && this.flying === undefined, 'a shard opens once per recovery');
    this.wallets = recovered.wallets;
    this.head = recovered.head;
    this.recent = recovered.recent;
    this.nowMs = recovered.timeMs;
    this.logBytes = recovered.logBytes;
    this.entriesSinceSnapshot = recovered.tailEntries;
    this.watermarks = new Watermarks(recovered.head.lsn);
    this.state = 'serving';
  }

  /** Closes for good: the log cannot be continued. `reason` is for people. */
  stop(reason: string): void {
    this.state = 'stopped';
    this.stopReason = reason;
    this.drop(STOPPED);
  }

  submit(request: Request): void {
    if (this.state !== 'serving') {
      request.replier.reply(this.state === 'stopped' || this.state === 'fenced' ? STOPPED : STARTING);
    } else if (this.mailbox.length === 0 && !this.isFull()) {
      this.take(request);
    } else {
      this.dropLate();
      if (this.mailbox.length < this.deps.limits.mailboxMax) this.mailbox.push(request);
      else request.replier.reply(OVERLOADED);
    }
  }

  /** While the store is away, what waits takes memory that nobody counts once its sender has been told "unknown". */
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

  /** Asks the log whether it is still ours, also when nobody asks the shard: who has been fenced must not linger. */
  confirmOwnership(): void {
    if (this.state !== 'serving' || this.flying !== undefined || hasReplies(this.forming)) return;
    this.forming.queries.hold(NOBODY, { type: 'player', player: undefined });
    this.deps.requestRound();
  }

  /** Forgets what is older than the rules want it remembered, for the next `count` players in turn. */
  forgetSome(count: number): void {
    const wallets = this.wallets;
    if (wallets === undefined || this.state !== 'serving' || this.mailbox.length > 0) return;
    // By the day: to forget costs a walk over all that a player has.
    const beforeMs = startOfDay(this.deps.clock.now() - this.deps.rules.retentionMs);
    for (let i = 0; i < Math.min(count, wallets.count) && this.state === 'serving' && !this.isFull(); i++) {
      if (this.nextToForget >= wallets.count) this.nextToForget = 0;
      const username = this.maybeForgettable(wallets, this.nextToForget++, beforeMs);
      if (username === undefined) continue;
      const command = { type: 'forget', username, beforeMs } as const;
      this.take({ type: 'command', command, replier: NOBODY, deadlineMs: Number.POSITIVE_INFINITY });
    }
  }

  /** The player at this position, when there is something of him to forget. */
  private maybeForgettable(wallets: Wallets, position: number, beforeMs: number): string | undefined {
    if (!wallets.mayHaveOlderThan(position, beforeMs)) return undefined;
    // Forgetting frees little of a packed wallet, and takes more than that.
    if (this.deps.memory.isFull && wallets.isPacked(position)) return undefined;
    try {
      const wallet = wallets.peek(position);
      return wallet !== undefined && hasForgettable(wallet, beforeMs) ? wallet.username : undefined;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  depart(): Append | undefined {
    if (this.flying !== undefined) return this.flying.append;
    if (this.state !== 'serving' || !hasReplies(this.forming)) return undefined;
    const batch = this.forming;
    this.forming = newBatch();
    let entry: SealedEntry | undefined;
    try {
      entry = this.seal(batch);
    } catch (error) {
      batch.commands.replaceBy(STARTING);
      batch.queries.replaceBy(STARTING);
      this.fail(error);
      return undefined;
    }
    const append = { shard: this.id, expected: this.mustHead(), entries: entry === undefined ? [] : [entry] };
    // Field by field: V8 fills a spread object on a slow path, which took 2 % of a lone callback.
    const { writer, commands, decidedMs, queries } = batch;
    this.flying = { writer, commands, decidedMs, queries, entry, append, toFollow: NOTHING, lost: 0 };
    this.drainMailbox();
    return append;
  }

  land(append: Append, outcome: AppendOutcome, tookMs: number): void {
    const flight = this.flying;
    try {
      assert(flight?.append === append, 'what lands is what has departed');
      this.landed(flight as Flight, outcome, tookMs);
    } catch (error) {
      flight?.commands.replaceBy(STARTING);
      flight?.queries.replaceBy(STARTING);
      this.flying = undefined;
      this.fail(error);
    }
  }

  private landed(flight: Flight, outcome: AppendOutcome, tookMs: number): void {
    switch (outcome.type) {
      case 'ok':
      case 'duplicate':
        if (flight.toFollow.length > 0) {
          this.appendAgain(flight, must(flight.append.entries.at(-1), 'a piece has entries').head, flight.toFollow);
          return;
        }
        this.flying = undefined;
        this.arrived(flight, tookMs);
        if (this.state === 'failing') this.restart();
        return;
      case 'failed':
        // Unknown: memory is kept, and the same bytes go again.
        this.deps.observer.appendFailed(this.id);
        this.warnOfWeather(outcome.error);
        return;
      case 'conflict':
        this.conflicted(flight, outcome.head);
        return;
      default:
        unreachable(outcome);
    }
  }

  /** Once a second at the most: bad weather is one piece of news, however often an append is tried. */
  private warnOfWeather(error: Error): void {
    const nowMs = this.deps.clock.monotonicMs();
    if (nowMs - this.warnedMs < WARN_EVERY_MS) return;
    this.warnedMs = nowMs;
    this.deps.log.warn({ shard: this.id, error: error.message }, 'append failed; trying again');
  }

  private arrived(flight: Flight, tookMs: number): void {
    const { entry, lost } = flight;
    if (lost > 0) this.deps.observer.healed(this.id, lost);
    if (entry !== undefined) {
      this.head = entry.head;
      this.recent?.add(entry);
      this.logBytes += entry.bytes.length;
      this.entriesSinceSnapshot++;
      this.watermarks.durable = entry.head.lsn.sequence;
      this.watermarks.check();
    }
    const landedMs = this.deps.clock.monotonicMs();
    this.deps.observer.landed(this.id, {
      decidedMs: flight.decidedMs,
      landedMs,
      replies: flight.commands.length + flight.queries.length,
      events: flight.writer?.count ?? 0,
      bytes: entry?.bytes.length ?? 0,
      tookMs,
    });
    flight.commands.release(landedMs);
    flight.queries.release(landedMs);
  }

  /** The log's head is not what this owner wrote last. */
  private conflicted(flight: Flight, head: Head): void {
    const { entry } = flight;
    if (entry !== undefined && isSameHead(head, entry.head)) {
      // All of it is there after all, as when a former master is back. The entry goes again: a duplicate is durable.
      this.appendAgain(flight, this.mustHead(), [entry]);
      return;
    }
    const lost = this.recent?.maybeAfter(head);
    if (lost === undefined) {
      this.flying = undefined;
      this.lost(flight, head);
      return;
    }
    const at = { shard: this.id, found: formatLsn(head.lsn), lost: lost.length };
    this.deps.log.warn(at, 'the store has lost entries that it had confirmed: they go in again');
    const entries = entry === undefined ? lost : [...lost, entry];
    this.appendAgain({ ...flight, lost: lost.length }, head, entries);
  }

  /** The next flight carries as many of these entries as fit into a piece. */
  private appendAgain(flight: Flight, expected: Head, entries: readonly SealedEntry[]): void {
    const append = { shard: this.id, expected, entries: entries.slice(0, PIECE_ENTRIES) };
    this.flying = { ...flight, append, toFollow: entries.slice(PIECE_ENTRIES) };
  }

  /** The log is not ours any more. Nothing that waits for it may be told. */
  private lost(flight: Flight, head: Head): void {
    flight.commands.replaceBy(STOPPED);
    flight.queries.replaceBy(STOPPED);
    const mine = this.mustHead();
    const kept = this.recentEntries.length;
    const at = { shard: this.id, expected: formatLsn(mine.lsn), found: formatLsn(head.lsn), kept };
    if (head.lsn.epoch > mine.lsn.epoch) {
      this.state = 'fenced';
      this.drop(STOPPED);
      this.deps.onFenced(this, head);
    } else {
      const reason = "the log's head is not ours, and no newer owner's: shard stopped; its log needs a person";
      this.stop(reason);
      this.deps.log.error(at, reason);
      this.deps.onDiverged(this);
    }
  }

  private isFull(): boolean {
    const { writer, commands, queries } = this.forming;
    const { batchEventsMax, batchBytesMax, mailboxMax } = this.deps.limits;
    // Repeats, rejections and reads leave no event, and have to be held back all the same.
    if (commands.length + queries.length >= mailboxMax) return true;
    return writer !== undefined && (writer.count >= batchEventsMax || writer.byteLength >= batchBytesMax);
  }

  private drainMailbox(): void {
    while (this.mailbox.length > 0 && !this.isFull() && this.state === 'serving') {
      this.take(this.mailbox.shift() as Request);
    }
  }

  /** One turn of the actor. */
  private take(request: Request): void {
    const startedMs = this.deps.clock.monotonicMs();
    // Whoever has been told "unknown" meanwhile must not find it done: he may have sent a cancel behind it.
    if (request.deadlineMs <= startedMs) {
      request.replier.reply(TOO_LATE);
      return;
    }
    try {
      if (request.type === 'command') this.turn(request, startedMs);
      else this.forming.queries.hold(request.replier, query(this.mustWallets(), request.query));
    } catch (error) {
      request.replier.reply(STARTING);
      this.fail(error, request);
      return;
    }
    this.deps.requestRound();
  }

  private turn({ command, replier, deadlineMs }: Extract<Request, { type: 'command' }>, startedMs: number): void {
    const wallets = this.mustWallets();
    const nowMs = this.now();
    const wallet = wallets.get(command.username);
    const decision = decide(wallet, command, this.deps.rules, nowMs);
    const { event } = decision;
    if (event !== undefined) {
      if (this.deps.memory.isFull && opensSomething(event)) {
        replier.reply(MEMORY_FULL);
        return;
      }
      if (wallet === undefined) apply(wallets, event);
      else applyIn(wallets, wallet, event as WalletEvent);
      if (this.forming.writer === undefined) {
        this.forming.writer = this.deps.format.beginBatch(nowMs);
        this.watermarks.applied++;
      }
      this.forming.writer.add(event);
    }
    this.forming.commands.hold(replier, decision.answer);
    const endedMs = this.deps.clock.monotonicMs();
    this.forming.decidedMs.push(endedMs);
    const currency = wallet?.currency ?? ('currency' in command ? command.currency : undefined);
    this.deps.observer.decided(this.id, { command, decision, currency, deadlineMs, startedMs, endedMs });
  }

  private seal(batch: Batch): SealedEntry | undefined {
    if (batch.writer === undefined) return undefined;
    const previous = this.mustHead();
    const lsn = { epoch: previous.lsn.epoch, sequence: previous.lsn.sequence + 1 };
    this.watermarks.appended = lsn.sequence;
    this.watermarks.check();
    return batch.writer.seal({ shard: this.id, lsn, nonce: previous.nonce, previous });
  }

  /** The shard's clock never goes back. */
  private now(): number {
    this.nowMs = Math.max(this.nowMs, this.deps.clock.now());
    return this.nowMs;
  }

  /**
   * One of our assertions failed: memory can no longer be believed. What is in flight was decided before and is told
   * when it is durable; everything later is dropped, and the shard recovers from its log. `request` is what it was at.
   */
  private fail(error: unknown, request?: Request): void {
    this.state = 'failing';
    this.deps.observer.failed(this.id);
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const kind = error instanceof AssertionFailure ? 'assertion failed' : 'unexpected error';
    this.deps.log.error(
      { shard: this.id, ...(request && aboutOf(request)), error: message },
      `${kind}: shard drops its memory and recovers from its log`,
    );
    this.drop(STARTING);
    if (this.flying === undefined) this.restart();
  }

  private restart(): void {
    this.state = 'starting';
    this.deps.onFailed(this);
  }

  private drop(answer: BusyAnswer): void {
    this.wallets = undefined;
    const { commands, queries } = this.forming;
    this.forming = newBatch();
    commands.replaceBy(answer);
    queries.replaceBy(answer);
    for (let request = this.mailbox.shift(); request !== undefined; request = this.mailbox.shift()) {
      request.replier.reply(answer);
    }
  }

  private mustWallets(): Wallets {
    assert(this.wallets !== undefined, 'a serving shard has wallets');
    return this.wallets;
  }

  private mustHead(): Head {
    assert(this.head !== undefined, 'a serving shard knows the head of its log');
    return this.head;
  }
}

function newBatch(): Batch {
  return { writer: undefined, commands: new ReplyBarrier(), decidedMs: [], queries: new ReplyBarrier() };
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

function hasReplies(batch: Batch): boolean {
  return batch.commands.length > 0 || batch.queries.length > 0;
}

/** True when an event makes memory grow by something that must be kept until it is closed. */
function opensSomething(event: Event): boolean {
  if (event.type === 'player-created' || event.type === 'player-imported') return true;
  if (event.type !== 'callback-applied') return false;
  return event.changes.some((change) => change.type === 'bet-placed' || change.type === 'single-state-settled');
}
