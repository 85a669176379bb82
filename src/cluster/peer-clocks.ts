/**
 * The monotonic clocks of peers, as far as their pulses tell. A pulse has taken some time to come, so a peer's clock is at
 * least what this says: a deadline that is put into it comes early by that time, and never late.
 */
export class PeerClocks {
  /** Theirs less ours, by tag. */
  private readonly ahead = new Map<string, number>();

  heard(tag: string, clockMs: number, nowMs: number): void {
    this.ahead.set(tag, clockMs - nowMs);
  }

  forget(tag: string): void {
    this.ahead.delete(tag);
  }

  /** Our clock has leapt: what was heard before says nothing of it. */
  forgetAll(): void {
    this.ahead.clear();
  }

  /** Undefined before its first pulse. */
  toTheirs(tag: string, ourMs: number): number | undefined {
    const ahead = this.ahead.get(tag);
    return ahead === undefined ? undefined : ourMs + ahead;
  }

  toOurs(tag: string, theirMs: number): number | undefined {
    const ahead = this.ahead.get(tag);
    return ahead === undefined ? undefined : theirMs - ahead;
  }
}
