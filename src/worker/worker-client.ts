import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Replier } from '../base/ports.js';
import { RecoveryError } from '../shard/recovery.js';
import type { BusyAnswer } from '../shard/shard.js';
import type { Failure } from '../wallet/rejection.js';
import type { FromWorker, NewRequest, ToWorker, WireRequest, WireResult } from './protocol.js';
import type { ShardStatus } from './shards.js';

export interface WorkerEvents {
  onFenced(shard: number, takenBy: string): void;
  /** The thread has ended without being told to. */
  onDied(error: Error): void;
}

const CLOSE_MS = 1000;
const STARTING: BusyAnswer = { type: 'failed', failure: 'starting' satisfies Failure };

/**
 * The main thread's end of the wire to one worker. When the worker dies, everyone who waits is told to come again: what
 * became of it is unknown, and a repeat finds out.
 */
export class WorkerClient {
  status: readonly ShardStatus[] = [];
  private readonly waiting = new Map<number, Replier<WireResult>>();
  private readonly opened: Promise<void>;
  private settleOpened: { resolve: () => void; reject: (error: Error) => void } | undefined = undefined;
  private onDrained: ((isEmpty: boolean) => void) | undefined = undefined;
  private requests: WireRequest[] = [];
  private nextId = 1;
  private isClosing = false;
  private hasEnded = false;

  constructor(
    private readonly worker: Worker,
    private readonly events: WorkerEvents,
  ) {
    this.opened = new Promise((resolve, reject) => {
      this.settleOpened = { resolve, reject };
    });
    this.opened.catch(() => {});
    let error = new Error('the thread ended');
    worker.on('message', (message: FromWorker) => this.receive(message));
    worker.on('error', (cause: Error) => {
      error = cause;
    });
    worker.on('exit', () => this.ended(error));
  }

  /** Resolves when all its shards serve. */
  open(): Promise<void> {
    return this.opened;
  }

  /** Requests of one turn of the event loop travel in one message. */
  submit(request: NewRequest, replier: Replier<never>): void {
    if (this.hasEnded) {
      (replier as Replier<BusyAnswer>).reply(STARTING);
      return;
    }
    const id = this.nextId++;
    this.waiting.set(id, replier as Replier<WireResult>);
    if (this.requests.length === 0) setImmediate(() => this.send());
    this.requests.push({ ...request, id });
  }

  get waitingCount(): number {
    return this.waiting.size;
  }

  async drain(timeoutMs: number): Promise<boolean> {
    if (this.hasEnded) return true;
    this.send();
    const isEmpty = await new Promise<boolean>((resolve) => {
      this.onDrained = resolve;
      this.post({ type: 'drain-shards', timeoutMs });
      setTimeout(() => resolve(false), timeoutMs + CLOSE_MS).unref();
    });
    return isEmpty && this.waiting.size === 0;
  }

  async close(): Promise<void> {
    this.isClosing = true;
    if (this.hasEnded) return;
    const exited = once(this.worker, 'exit');
    this.post({ type: 'close-shards' });
    const timer = setTimeout(() => void this.worker.terminate(), CLOSE_MS);
    await exited;
    clearTimeout(timer);
  }

  private send(): void {
    const { requests } = this;
    if (requests.length === 0) return;
    this.requests = [];
    this.post({ type: 'submit-requests', requests });
  }

  private post(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private receive(message: FromWorker): void {
    switch (message.type) {
      case 'results':
        for (let i = 0; i < message.ids.length; i++)
          this.reply(message.ids[i] as number, message.results[i] as WireResult);
        return;
      case 'status':
        this.status = message.shards;
        return;
      case 'shards-opened':
        this.settleOpened?.resolve();
        return;
      case 'open-failed':
        this.settleOpened?.reject(new RecoveryError(message.message));
        return;
      case 'fenced':
        this.events.onFenced(message.shard, message.takenBy);
        return;
      case 'drained':
        this.onDrained?.(message.isEmpty);
        return;
    }
  }

  private reply(id: number, result: WireResult): void {
    const replier = this.waiting.get(id);
    this.waiting.delete(id);
    // A shard whose assertion fails while it tells its answers tells some of them twice; the first counts.
    replier?.reply(result);
  }

  private ended(error: Error): void {
    this.hasEnded = true;
    this.settleOpened?.reject(error);
    this.requests = [];
    const repliers = [...this.waiting.values()];
    this.waiting.clear();
    for (const replier of repliers) replier.reply(STARTING);
    this.onDrained?.(true);
    if (!this.isClosing) this.events.onDied(error);
  }
}
