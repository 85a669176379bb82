import type { Clock } from '../base/clock.js';
import { type Cancel, systemTimers } from '../base/timers.js';

/** A request waiting for its answer; a node of the linked list in `Admission`. */
export interface Pending {
  older: Pending | undefined;
  newer: Pending | undefined;
  readonly deadlineMs: number;
  isExecuting: boolean;
  /** Buffered bytes of the body. */
  byteLength: number;
  /** Called after the deadline. Answers that the outcome is unknown, and leaves the list. */
  expire(): void;
}

export interface AdmissionSettings {
  readonly inFlightMax: number;
  /**
   * Limit in bytes for all bodies being executed. A separate limit of the same size applies to bodies still being
   * received.
   */
  readonly inFlightBytesMax: number;
}

const TICK_MS = 50;

/**
 * Counts pending requests and ends those that wait too long. All have the same time limit, so they expire in order of
 * arrival: one timer at the front of a linked list is enough, and a request can leave from the middle. Requests being
 * received and requests being executed have separate counts and byte limits. Slow senders and unsigned bodies therefore
 * do not block requests that arrive in one piece.
 */
export class Admission {
  private count = 0;
  private executing = 0;
  private comingBytes = 0;
  private executingBytes = 0;
  private oldest: Pending | undefined = undefined;
  private newest: Pending | undefined = undefined;
  private readonly stopTicking: Cancel;

  constructor(
    private readonly settings: AdmissionSettings,
    private readonly clock: Clock,
  ) {
    this.stopTicking = systemTimers.every(TICK_MS, () => this.tick());
  }

  get inFlight(): number {
    return this.count;
  }

  /**
   * True if too many bodies are being received, or so many requests are being executed that reading another one would
   * be futile.
   */
  get isFull(): boolean {
    const { inFlightMax } = this.settings;
    return this.executing >= inFlightMax || this.count - this.executing >= inFlightMax;
  }

  enter(pending: Pending): void {
    this.count++;
    pending.older = this.newest;
    if (this.newest === undefined) this.oldest = pending;
    else this.newest.newer = pending;
    this.newest = pending;
  }

  /**
   * Counts more bytes of a body still being received. Returns false if the incoming bodies exceed their combined limit.
   */
  tryGrow(pending: Pending, byteLength: number): boolean {
    if (this.comingBytes + byteLength > this.settings.inFlightBytesMax) return false;
    this.comingBytes += byteLength;
    pending.byteLength += byteLength;
    return true;
  }

  /** Counts a complete body as being executed. Returns false at the limit of requests or bytes. */
  tryExecute(pending: Pending, byteLength: number): boolean {
    const { inFlightMax, inFlightBytesMax } = this.settings;
    if (this.executing >= inFlightMax || this.executingBytes + byteLength > inFlightBytesMax) return false;
    this.comingBytes -= pending.byteLength;
    pending.byteLength = byteLength;
    pending.isExecuting = true;
    this.executing++;
    this.executingBytes += byteLength;
    return true;
  }

  leave(pending: Pending): void {
    this.count--;
    if (pending.isExecuting) {
      this.executing--;
      this.executingBytes -= pending.byteLength;
    } else {
      this.comingBytes -= pending.byteLength;
    }
    const { older, newer } = pending;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.newest = older;
    else newer.older = older;
    pending.older = undefined;
    pending.newer = undefined;
  }

  close(): void {
    this.stopTicking();
  }

  private tick(): void {
    const nowMs = this.clock.monotonicMs();
    while (this.oldest !== undefined && this.oldest.deadlineMs <= nowMs) this.oldest.expire();
  }
}
