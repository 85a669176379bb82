/**
 * Monotonic clocks of peers, estimated from their heartbeats. A heartbeat takes time to arrive, so the peer's clock is
 * never behind this estimate. Because of that delay, a converted deadline may expire early, but never late.
 */
export class PeerClocks {
  /** By tag: the peer's clock minus ours. */
  private readonly ahead = new Map<string, number>();

  heard(tag: string, clockMs: number, nowMs: number): void {
    this.ahead.set(tag, clockMs - nowMs);
  }

  forget(tag: string): void {
    this.ahead.delete(tag);
  }

  /** Discards all estimates after this node's clock has jumped. */
  forgetAll(): void {
    this.ahead.clear();
  }

  /** Undefined before the peer's first heartbeat. */
  toTheirs(tag: string, ourMs: number): number | undefined {
    const ahead = this.ahead.get(tag);
    return ahead === undefined ? undefined : ourMs + ahead;
  }

  toOurs(tag: string, theirMs: number): number | undefined {
    const ahead = this.ahead.get(tag);
    return ahead === undefined ? undefined : theirMs - ahead;
  }
}
