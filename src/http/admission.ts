import type { Clock } from '../base/clock.js';
import { type Cancel, systemTimers } from '../base/timers.js';

/** A request that waits for its answer; a link of the list that `Admission` keeps. */
export interface Pending {
  older: Pending | undefined;
  newer: Pending | undefined;
  readonly deadlineMs: number;
  isExecuting: boolean;
  /** Bytes of the body that are held. */
  byteLength: number;
  /** Called after the deadline: answers that the outcome is unknown, and leaves the list. */
  expire(): void;
}

export interface AdmissionSettings {
  readonly inFlightMax: number;
  /**
   * Limit in bytes of all bodies that are being carried out; the same limit applies again to bodies still being
   * received.
   */
  readonly inFlightBytesMax: number;
}

const TICK_MS = 50;

/**
 * Counts pending requests and ends those that wait too long. All have the same time limit, so they expire in order of
 * arrival: a linked list that each can leave from the middle, and one timer at its front. Requests still being received
 * and requests being carried out have separate counts and byte limits. Slow senders and unsigned bodies therefore do
 * not keep out requests that arrive in one piece.
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

  /** Too many bodies are being received, or so many requests are carried out that reading another would be in vain. */
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

  /** Counts further bytes of a body still being received; false when the incoming bodies together are too large. */
  tryGrow(pending: Pending, byteLength: number): boolean {
    if (this.comingBytes + byteLength > this.settings.inFlightBytesMax) return false;
    this.comingBytes += byteLength;
    pending.byteLength += byteLength;
    return true;
  }

  /** Counts a complete body as being carried out; false at the limit of requests or bytes. */
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
