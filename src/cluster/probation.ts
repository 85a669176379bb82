/** Whoever has not had the processor for so long may have been taken for gone. */
const PAUSED_MS = 800;
/** What was begun by those who took this node for gone is over by then. */
const PAUSED_REST_MS = 2000;
/** A member that sees the table has seen it by then that another one has joined, and has ended what it was about before. */
const JOINED_REST_MS = 10_000;

/**
 * While this node holds nothing for others: who is about to fence a log has asked those whom it knew, and counts on nobody else
 * holding more of it. A newcomer waits until all others know it, and who was paused until they have noticed.
 */
export class Probation {
  private readonly knownBy = new Set<string>();
  /** Who the others are has been read since it joined. */
  private hasView = false;
  private joinedMs = Number.POSITIVE_INFINITY;
  private pausedMs = Number.NEGATIVE_INFINITY;
  private runningMs = Number.POSITIVE_INFINITY;

  /** Also once more, after others have taken it for gone. */
  joined(nowMs: number): void {
    this.knownBy.clear();
    this.hasView = false;
    this.joinedMs = nowMs;
  }

  /** The table has told who the others are. */
  viewed(): void {
    this.hasView = true;
  }

  /** That member asks this node, too, whenever it takes a log over. */
  known(tag: string): void {
    this.knownBy.add(tag);
  }

  /** To be called often. */
  running(nowMs: number): void {
    if (nowMs - this.runningMs >= PAUSED_MS) this.pausedMs = nowMs;
    this.runningMs = nowMs;
  }

  /** `others`: all who live and may take the log over; asked for as long as it matters who knows this node. */
  isOver(others: () => readonly string[], nowMs: number): boolean {
    if (!this.hasView || nowMs - this.pausedMs < PAUSED_REST_MS) return false;
    return nowMs - this.joinedMs >= JOINED_REST_MS || others().every((tag) => this.knownBy.has(tag));
  }
}
