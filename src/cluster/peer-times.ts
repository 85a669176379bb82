/** Wall clocks of the members. Acknowledgements do not depend on them, but tips per day and retention do. */
export class PeerTimes {
  /** By tag: the peer's clock minus ours, in ms. */
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

  /** How far this node's clock is behind the median of all clocks, in ms; negative if it is ahead. */
  get behindMs(): number {
    const [lower, upper] = this.middles();
    return (lower + upper) / 2;
  }

  /**
   * How far this node's clock is off according to most members, in ms. Always 0 with two members, because either clock
   * may be the wrong one.
   */
  get outlyingMs(): number {
    const [lower, upper] = this.middles();
    return Math.max(lower, -upper, 0);
  }

  /** The two middle values of all clock differences. If their number is odd, the middle value twice. */
  private middles(): readonly [number, number] {
    const all = [0, ...this.ahead.values()].sort((a, b) => a - b);
    return [all[(all.length - 1) >> 1] as number, all[all.length >> 1] as number];
  }
}
