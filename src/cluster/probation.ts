/** A node that did not run for this long may have been suspected dead. */
const PAUSED_MS = 800;
/** Time after which actions that other nodes began while they suspected this node are over. */
const PAUSED_REST_MS = 2000;
/** Time in which a member that sees the registry has noticed the newcomer, and has finished earlier takeovers. */
const JOINED_REST_MS = 10_000;

/**
 * Join grace period, in which this node holds no copies. A node that is about to fence a log asks only the members that
 * it knows for copies, so a member that it does not know must not hold later entries of the log. A newcomer therefore
 * waits until all members know it. A paused node waits until the other nodes have noticed that it runs again.
 */
export class Probation {
  private readonly knownBy = new Set<string>();
  /** True after the member list has been read since this node joined. */
  private hasView = false;
  private joinedMs = Number.POSITIVE_INFINITY;
  private pausedMs = Number.NEGATIVE_INFINITY;
  private runningMs = Number.POSITIVE_INFINITY;

  /** Also called when this node rejoins after other nodes suspected it dead. */
  joined(nowMs: number): void {
    this.knownBy.clear();
    this.hasView = false;
    this.joinedMs = nowMs;
  }

  /** Records that the registry has listed the members. */
  viewed(): void {
    this.hasView = true;
  }

  /** Records that the member asks this node as well before it takes over a log. */
  known(tag: string): void {
    this.knownBy.add(tag);
  }

  /** Must be called often, because a gap between calls counts as a pause. */
  running(nowMs: number): void {
    if (nowMs - this.runningMs >= PAUSED_MS) this.pausedMs = nowMs;
    this.runningMs = nowMs;
  }

  /**
   * `others` returns the live members that may take over the log. It is called only while the result depends on which
   * of them know this node.
   */
  isOver(others: () => readonly string[], nowMs: number): boolean {
    if (!this.hasView || nowMs - this.pausedMs < PAUSED_REST_MS) return false;
    return nowMs - this.joinedMs >= JOINED_REST_MS || others().every((tag) => this.knownBy.has(tag));
  }
}
