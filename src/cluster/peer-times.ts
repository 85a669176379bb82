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

  /** How far this node is behind the middle of all, or ahead of it (below 0). Milliseconds. */
  get behindMs(): number {
    const all = [0, ...this.ahead.values()].sort((a, b) => a - b);
    const middle = all.length >> 1;
    // Of two nobody knows which is wrong: half of the difference.
    return all.length % 2 === 1 ? (all[middle] as number) : ((all[middle - 1] as number) + (all[middle] as number)) / 2;
  }
}
