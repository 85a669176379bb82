/** What waits for its turn. */
interface Waiting {
  readonly resolve: () => void;
  readonly byMs: number;
}

/**
 * Work that can wait is done while a thread would otherwise wait for its store: in turns of the event loop that have brought
 * no request, one piece in each.
 */
export class SpareTime {
  private readonly waiting: Waiting[] = [];
  private requestsBefore = 0;
  private isLooking = false;

  /** `requests`: how many have come to the thread so far. */
  constructor(
    private readonly requests: () => number,
    private readonly monotonicMs: () => number,
  ) {}

  /** Resolves in a turn that is spare, or after so many milliseconds in any. */
  async turn(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.waiting.push({ resolve, byMs: this.monotonicMs() + waitMs });
      if (!this.isLooking) this.look();
    });
  }

  private look(): void {
    this.isLooking = true;
    this.requestsBefore = this.requests();
    setImmediate(() => {
      this.maybeNext()?.resolve();
      this.isLooking = this.waiting.length > 0;
      if (this.isLooking) this.look();
    });
  }

  /** Who can wait no longer goes first. */
  private maybeNext(): Waiting | undefined {
    const nowMs = this.monotonicMs();
    const isSpare = this.requests() === this.requestsBefore;
    const late = this.waiting.findIndex(({ byMs }) => byMs <= nowMs);
    return late === -1 && !isSpare ? undefined : this.waiting.splice(Math.max(late, 0), 1)[0];
  }
}
