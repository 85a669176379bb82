import type { Clock } from '../base/clock.js';
import { type Cancel, systemTimers } from '../base/timers.js';

/** A request whose answer is awaited; a link of the list that `Admission` keeps. */
export interface Pending {
  older: Pending | undefined;
  newer: Pending | undefined;
  readonly deadlineMs: number;
  isExecuting: boolean;
  /** Bytes of its body that are kept. */
  byteLength: number;
  /** The deadline has passed: answers that the outcome is unknown, and leaves. */
  expire(): void;
}

export interface AdmissionSettings {
  readonly inFlightMax: number;
  /** Bytes of all bodies that are carried out; as many again of those still being received. */
  readonly inFlightBytesMax: number;
}

const TICK_MS = 50;

/**
 * Counts the requests in flight and ends those that wait too long. All have the same patience, so they expire in the
 * order in which they came: a list that each can leave from the middle, and one timer that looks at its front.
 *
 * Those whose body is still coming and those that are carried out are counted apart, as are their bytes: slow senders,
 * and bodies that nobody has signed, do not keep out what comes in one piece.
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

  /** Too many bodies are on their way, or so many are carried out that another would be read in vain. */
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

  /** More of its body has come, and not yet all; false when all bodies that are coming are too large. */
  tryGrow(pending: Pending, byteLength: number): boolean {
    if (this.comingBytes + byteLength > this.settings.inFlightBytesMax) return false;
    this.comingBytes += byteLength;
    pending.byteLength += byteLength;
    return true;
  }

  /** All of its body has come; false when too many are being carried out already, or too large ones. */
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
