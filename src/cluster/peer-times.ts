/** The time that members take it to be. Nothing that is told depends on it, but tips per day and retention do. */
export class PeerTimes {
  /** Theirs less ours, by tag. Milliseconds. */
  private readonly ahead = new Map<string, number>();

  heard(tag: string, theirMs: number, ourMs: number): void {
    this.ahead.set(tag, theirMs - ourMs);
  }

  forget(tag: string): void {
    this.ahead.delete(tag);
  }

  /** Clocks of the others less ours, as heard last. Milliseconds. */
  get aheadMs(): readonly number[] {
    return [...this.ahead.values()];
  }

  /** How far this node is behind the middle of all, or ahead of it (below 0). Milliseconds. */
  get behindMs(): number {
    const [lower, upper] = this.middles();
    return (lower + upper) / 2;
  }

  /** How far it is off, as most of the others see it: of two nobody knows which one is wrong. Milliseconds. */
  get outlyingMs(): number {
    const [lower, upper] = this.middles();
    return Math.max(lower, -upper, 0);
  }

  /** The one in the middle of all, or the two. */
  private middles(): readonly [number, number] {
    const all = [0, ...this.ahead.values()].sort((a, b) => a - b);
    return [all[(all.length - 1) >> 1] as number, all[all.length >> 1] as number];
  }
}
