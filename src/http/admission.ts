import type { Clock } from '../base/ports.js';

/** A request whose answer is awaited; a link of the list that `Admission` keeps. */
export interface Pending {
  older: Pending | undefined;
  newer: Pending | undefined;
  readonly deadlineMs: number;
  isExecuting: boolean;
  /** Bytes of its body that have come. */
  byteLength: number;
  /** The deadline has passed: answers that the outcome is unknown, and leaves. */
  expire(): void;
}

export interface AdmissionSettings {
  readonly inFlightMax: number;
  /** Of all bodies together. */
  readonly inFlightBytesMax: number;
}

const TICK_MS = 50;

/**
 * Counts the requests in flight and ends those that wait too long. All have the same patience, so they expire in the
 * order in which they came: a list that each can leave from the middle, and one timer that looks at its front.
 *
 * Those whose body is still coming and those that are carried out are counted apart, so that slow senders do not keep
 * out the others.
 */
export class Admission {
  private count = 0;
  private executing = 0;
  private byteLength = 0;
  private oldest: Pending | undefined = undefined;
  private newest: Pending | undefined = undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly settings: AdmissionSettings,
    private readonly clock: Clock,
  ) {
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
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

  /** More of its body has come; false when all bodies together are too large. */
  tryGrow(pending: Pending, byteLength: number): boolean {
    if (this.byteLength + byteLength > this.settings.inFlightBytesMax) return false;
    this.byteLength += byteLength;
    pending.byteLength += byteLength;
    return true;
  }

  /** Its body has come; false when too many are being carried out already. */
  tryExecute(pending: Pending): boolean {
    if (this.executing >= this.settings.inFlightMax) return false;
    this.executing++;
    pending.isExecuting = true;
    return true;
  }

  leave(pending: Pending): void {
    this.count--;
    this.byteLength -= pending.byteLength;
    if (pending.isExecuting) this.executing--;
    const { older, newer } = pending;
    if (older === undefined) this.oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.newest = older;
    else newer.older = older;
    pending.older = undefined;
    pending.newer = undefined;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private tick(): void {
    const nowMs = this.clock.monotonicMs();
    while (this.oldest !== undefined && this.oldest.deadlineMs <= nowMs) this.oldest.expire();
  }
}
