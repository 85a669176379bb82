import type { Worker } from 'node:worker_threads';
import { AnswerOnce } from '../base/answer-once.js';
import type { ConfirmedTime } from '../base/irreversible-time.js';
import type { Logger } from '../base/logger.js';
import { lastingMetrics, type Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import { Watchdog } from '../base/watchdog.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { Lsn } from '../ports/lsn.js';
import { RecoveryError } from '../ports/recovery-error.js';
import { OVERLOADED, STARTING } from '../ports/request.js';
import type { Pace, SnapshotResult } from '../snapshot/snapshotter.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { columnsOf, replyAt } from './columns.js';
import type { OnFenced } from './host-observer.js';
import { OutgoingRequests } from './outgoing-requests.js';
import type { FromWorker, NewRequest, ToWorker, WireResult } from './protocol.js';
import type { Move, MoveResult, ShardStatus } from './shards.js';

export interface WorkerEvents {
  /** All of the worker's shards are open. */
  onOpened(): void;
  readonly onFenced: OnFenced;
  /** The worker returned a callback because it does not have the callback's shard. */
  onMisplaced(callback: SentCallback, shard: number, replier: Replier<CallbackReply>): void;
  /** The thread ended unexpectedly. */
  onDied(error: Error): void;
}

const CLOSE_MS = 1000;
const ORPHANS_MS = 2000;
const NO_THREAD: MoveResult = { type: 'failed', reason: 'its thread has ended', isPermanent: false };
/** A thread that is silent for this long counts as hung. */
const SILENCE_MAX_SECONDS = 10;

/**
 * The main thread's end of the protocol with one worker. If the worker dies, every pending replier gets an answer that
 * asks for a retry. The outcome is unknown, and a repeat of the callback reveals it.
 */
export class WorkerClient {
  status: readonly ShardStatus[] = [];
  isMemoryFull = false;
  /** The metrics from the worker's latest message that contained any. */
  metrics: readonly Metric[] = [];
  private readonly outgoing: OutgoingRequests<Replier<CallbackReply>, Replier<WireResult>>;
  private readonly opened: Promise<void>;
  private settleOpened: { resolve: () => void; reject: (error: Error) => void } | undefined = undefined;
  private onDrained: ((isEmpty: boolean) => void) | undefined = undefined;
  private onOrphansKept: (() => void) | undefined = undefined;
  /** Pending requests for snapshots, in order. */
  private readonly onSnapshots: ((results: readonly SnapshotResult[] | undefined) => void)[] = [];
  private readonly moves = new Map<number, (result: MoveResult) => void>();
  private readonly exited: Promise<void>;
  /** Set once the shards serve, because the worker sends its status ten times a second from then on. */
  private watchdog: Watchdog | undefined = undefined;
  private nextMoveId = 1;
  private isClosing = false;
  private hasEnded = false;

  constructor(
    private readonly worker: Worker,
    private readonly events: WorkerEvents,
    /**
     * By shard: the newest entry whose answers have arrived. The map belongs to the worker's slot and outlives
     * restarts.
     */
    private readonly acknowledged: Map<number, Lsn>,
    private readonly log: Logger,
  ) {
    this.outgoing = new OutgoingRequests((callbacks, firstId, requests) => {
      if (callbacks.length > 0) this.post({ type: 'submit-callbacks', callbacks: columnsOf(firstId, callbacks) });
      if (requests.length > 0) this.post({ type: 'submit-requests', requests });
    }, setImmediate);
    this.opened = new Promise((resolve, reject) => {
      this.settleOpened = { resolve, reject };
    });
    this.opened.catch(() => {});
    let error = new Error('the thread ended');
    worker.on('message', (message: FromWorker) => this.receive(message));
    worker.on('error', (cause: Error) => {
      error = cause;
    });
    this.exited = new Promise((resolve) => {
      worker.on('exit', () => {
        this.ended(error);
        resolve();
      });
    });
  }

  /** Resolves once all of the worker's shards serve. */
  open(): Promise<void> {
    return this.opened;
  }

  /**
   * Submits a callback. All callbacks of one event-loop iteration travel in one message; the same is true of other
   * requests.
   */
  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void {
    if (this.busy !== undefined) {
      replier.reply({ answer: this.busy, body: '' });
      return;
    }
    this.outgoing.addCallback(callback, new AnswerOnce(replier, this.log));
  }

  submit(request: NewRequest, replier: Replier<never>): void {
    if (this.busy !== undefined) {
      (replier as Replier<BusyAnswer>).reply(this.busy);
      return;
    }
    this.outgoing.addRequest(request, new AnswerOnce(replier as Replier<WireResult>, this.log));
  }

  /** The answer while the worker accepts nothing; undefined if it accepts requests. */
  private get busy(): BusyAnswer | undefined {
    if (this.hasEnded) return STARTING;
    return this.outgoing.isFull ? OVERLOADED : undefined;
  }

  async drain(timeoutMs: number): Promise<boolean> {
    if (this.hasEnded) return true;
    this.outgoing.flush();
    const isEmpty = await new Promise<boolean>((resolve) => {
      this.onDrained = resolve;
      this.post({ type: 'drain-shards', timeoutMs });
      setTimeout(() => resolve(false), timeoutMs + CLOSE_MS).unref();
    });
    return isEmpty && this.outgoing.waiting === 0;
  }

  /** Takes snapshots of the worker's shards. Resolves with undefined if the thread has ended. */
  async takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[] | undefined> {
    if (this.hasEnded) return undefined;
    return await new Promise((resolve) => {
      this.onSnapshots.push(resolve);
      this.post({ type: 'take-snapshots', pace });
    });
  }

  async move(move: Move): Promise<MoveResult> {
    if (this.hasEnded) return NO_THREAD;
    const id = this.nextMoveId++;
    return await new Promise((resolve) => {
      this.moves.set(id, resolve);
      this.post({ type: 'move-shard', id, move });
    });
  }

  allowFormat(format: number): void {
    if (!this.hasEnded) this.post({ type: 'allow-format', format });
  }

  confirmTime(confirmed: ConfirmedTime): void {
    if (!this.hasEnded) this.post({ type: 'confirm-time', confirmed });
  }

  async keepOrphans(): Promise<void> {
    if (this.hasEnded) return;
    await new Promise<void>((resolve) => {
      this.onOrphansKept = resolve;
      this.post({ type: 'keep-orphans' });
      setTimeout(resolve, ORPHANS_MS).unref();
    });
  }

  async close(): Promise<void> {
    this.isClosing = true;
    if (this.hasEnded) return;
    this.post({ type: 'close-shards' });
    const timer = setTimeout(() => void this.worker.terminate(), CLOSE_MS);
    await this.exited;
    clearTimeout(timer);
  }

  /** Removes and returns the counters that must stay in the totals after the worker has ended. Gauges are dropped. */
  takeCounters(): Metric[] {
    const counted = lastingMetrics(this.metrics);
    this.metrics = [];
    return counted;
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private receive(message: FromWorker): void {
    this.watchdog?.heard();
    switch (message.type) {
      case 'replies':
        this.noteAcknowledged(message.durable);
        for (let i = 0; i < message.replies.ids.length; i++) {
          const replier = this.outgoing.takeCallback(message.replies.ids[i] as number);
          replier?.reply(replyAt(message.replies, i), message.readyMs);
        }
        return;
      case 'misplaced-callback': {
        const { id, shard, callback } = message;
        const replier = this.outgoing.takeCallback(id);
        if (replier !== undefined) this.events.onMisplaced(callback, shard, replier);
        return;
      }
      case 'results':
        this.noteAcknowledged(message.durable);
        for (const [i, id] of message.ids.entries()) {
          this.outgoing.takeRequest(id)?.reply(message.results[i] as WireResult, message.readyMs);
        }
        return;
      case 'status':
        this.status = message.shards;
        this.isMemoryFull = message.isMemoryFull;
        this.metrics = message.metrics ?? this.metrics;
        return;
      case 'shards-opened':
        // Terminating the worker is reported like any other end of the thread.
        this.watchdog = new Watchdog(SILENCE_MAX_SECONDS, () => void this.worker.terminate());
        // Call this before resolving the promise. The thread may already have ended, and its exit event would otherwise
        // be handled first.
        this.events.onOpened();
        this.settleOpened?.resolve();
        return;
      case 'open-failed':
        this.settleOpened?.reject(new RecoveryError(message.message));
        return;
      case 'fenced':
        this.events.onFenced(message.shard, message.takenBy, message.head);
        return;
      case 'drained':
        this.onDrained?.(message.isEmpty);
        return;
      case 'shard-moved':
        this.moves.get(message.id)?.(message.result);
        this.moves.delete(message.id);
        return;
      case 'orphans-kept':
        this.onOrphansKept?.();
        return;
      case 'snapshots-taken':
        this.onSnapshots.shift()?.(message.results);
        return;
    }
  }

  private noteAcknowledged(durable: readonly (readonly [shard: number, lsn: Lsn])[]): void {
    for (const [shard, lsn] of durable) this.acknowledged.set(shard, lsn);
  }

  private ended(error: Error): void {
    this.hasEnded = true;
    this.watchdog?.stop();
    this.settleOpened?.reject(error);
    const { callbacks, requests } = this.outgoing.takeAll();
    for (const replier of requests) replier.reply(STARTING);
    for (const replier of callbacks) replier.reply({ answer: STARTING, body: '' });
    this.onDrained?.(true);
    this.onOrphansKept?.();
    for (const resolve of this.onSnapshots.splice(0)) resolve(undefined);
    const moves = [...this.moves.values()];
    this.moves.clear();
    for (const resolve of moves) resolve(NO_THREAD);
    if (!this.isClosing) this.events.onDied(error);
  }
}
