/** Wall clocks of the members. No acknowledgement depends on them, but tips per day and retention do. */
export class PeerTimes {
  /** Peer's clock minus ours, by tag, in ms. */
  private readonly ahead = new Map<string, number>();

  heard(tag: string, theirMs: number, ourMs: number): void {
    this.ahead.set(tag, theirMs - ourMs);
  }

  forget(tag: string): void {
    this.ahead.delete(tag);
  }

  /** Peers' clocks minus ours, as of their last heartbeats, in ms. */
  get aheadMs(): readonly number[] {
    return [...this.ahead.values()];
  }

  /** How far this node's clock is behind the median of all (negative: ahead), in ms. */
  get behindMs(): number {
    const [lower, upper] = this.middles();
    return (lower + upper) / 2;
  }

  /**
   * How far this node's clock is off in the view of most members, in ms. 0 with two members, since either clock may be
   * the wrong one.
   */
  get outlyingMs(): number {
    const [lower, upper] = this.middles();
    return Math.max(lower, -upper, 0);
  }

  /** The two middle values of all clock differences; the same value twice when their number is odd. */
  private middles(): readonly [number, number] {
    const all = [0, ...this.ahead.values()].sort((a, b) => a - b);
    return [all[(all.length - 1) >> 1] as number, all[all.length >> 1] as number];
  }
}
