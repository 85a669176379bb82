import type { Timers } from '../base/timers.js';
import type { SentCallback } from '../callback/sent-callback.js';
import type { NewRequest, WireRequest } from './protocol.js';

/** Maximum number of unanswered requests to one thread or node. */
const WAITING_MAX = 100_000;

/** The ids of the callbacks are consecutive, beginning with `firstId`. */
export type SendRequests = (
  callbacks: readonly SentCallback[],
  firstId: number,
  requests: readonly WireRequest[],
) => void;

/**
 * Requests to one thread or node. Numbers them, sends all requests of one event-loop turn together, and finds the
 * waiting end of each answer. `Callback` and `Request` are the waiting ends; the texts of callbacks are not kept.
 */
export class OutgoingRequests<Callback, Request> {
  private readonly callbacks = new Map<number, Callback>();
  private readonly requests = new Map<number, Request>();
  /** Callbacks of this turn. They are the newest in `callbacks`, so their ids are consecutive. */
  private newCallbacks: SentCallback[] = [];
  private newRequests: WireRequest[] = [];
  private isScheduled = false;
  private nextCallbackId = 1;
  private nextRequestId = 1;

  constructor(
    private readonly send: SendRequests,
    private readonly defer: Timers['defer'],
  ) {}

  get waiting(): number {
    return this.callbacks.size + this.requests.size;
  }

  get isFull(): boolean {
    return this.waiting >= WAITING_MAX;
  }

  addCallback(sent: SentCallback, waiting: Callback): void {
    this.callbacks.set(this.nextCallbackId++, waiting);
    this.newCallbacks.push(sent);
    this.schedule();
  }

  addRequest(sent: NewRequest, waiting: Request): void {
    const id = this.nextRequestId++;
    this.requests.set(id, waiting);
    this.newRequests.push({ ...sent, id });
    this.schedule();
  }

  /** Removes and returns the waiting end, so that a second answer with the same id finds none. */
  takeCallback(id: number): Callback | undefined {
    return take(this.callbacks, id);
  }

  takeRequest(id: number): Request | undefined {
    return take(this.requests, id);
  }

  /**
   * Removes and returns all waiting ends that are late. Checks each, because a request that was first sent elsewhere may
   * be older than those ahead of it.
   */
  takeLate(isLate: (waiting: Callback | Request) => boolean): readonly (Callback | Request)[] {
    const late: (Callback | Request)[] = [];
    for (const table of [this.callbacks, this.requests] as readonly Map<number, Callback | Request>[]) {
      for (const [id, waiting] of table) {
        if (!isLate(waiting)) continue;
        table.delete(id);
        late.push(waiting);
      }
    }
    return late;
  }

  /** Removes and returns all waiting ends, when the thread has ended or the link is lost. Nothing more is sent. */
  takeAll(): { readonly callbacks: readonly Callback[]; readonly requests: readonly Request[] } {
    const all = { callbacks: [...this.callbacks.values()], requests: [...this.requests.values()] };
    this.callbacks.clear();
    this.requests.clear();
    this.newCallbacks = [];
    this.newRequests = [];
    return all;
  }

  /** Sends the requests of this turn now. */
  flush(): void {
    const { newCallbacks, newRequests } = this;
    this.isScheduled = false;
    this.newCallbacks = [];
    this.newRequests = [];
    if (newCallbacks.length + newRequests.length === 0) return;
    this.send(newCallbacks, this.nextCallbackId - newCallbacks.length, newRequests);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.defer(() => this.flush());
  }
}

function take<T>(waiting: Map<number, T>, id: number): T | undefined {
  const one = waiting.get(id);
  waiting.delete(id);
  return one;
}
