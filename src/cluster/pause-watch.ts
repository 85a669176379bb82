/** Shorter pauses are put down to a busy machine and ignored. */
export const PAUSE_MIN_MS = 500;
/**
 * During this many heartbeats of a new peer, the estimate of its clock may rise freely. The first heartbeats can be
 * late, which makes the clock look behind.
 */
const FIRST_HEARTBEATS = 5;
/**
 * Maximum rate at which the estimate of a peer's clock may rise; real clocks drift far less. Heartbeats that a pause
 * held back arrive together after it, and each one reveals a little more of the pause.
 */
const DRIFT = 0.01;
/**
 * If a peer's clock has been behind for this many heartbeats (30 s), that peer was paused without noticing, and its new
 * clock is adopted.
 */
const BEHIND_HEARTBEATS = 150;
/**
 * If a peer's clock has been ahead for this many heartbeats while most other clocks are not, this machine was not
 * paused, and the peer's new clock is adopted.
 */
const AHEAD_HEARTBEATS = 25;

/** Maximum number of remembered peers, including processes that have ended. */
const KEPT_MAX = 256;

interface Seen {
  /**
   * Peer's clock minus ours, in ms: `latest` is from the latest heartbeat, and `most` is the highest trusted value. A
   * late heartbeat gives a lower value.
   */
  latest: number;
  most: number;
  heartbeats: number;
  heardMs: number;
  isUp: boolean;
  /** Number of consecutive heartbeats that differed from `most` by at least `PAUSE_MIN_MS`. */
  apart: number;
}

/**
 * Detects a pause of this machine. On a machine that was suspended or restored, the monotonic clock stops unnoticed, so
 * leases and deadlines would last too long. The peers' clocks have continued meanwhile. If most peers are
 * further ahead than ever before, this machine has missed time.
 */
export class PauseWatch {
  private readonly seen = new Map<string, Seen>();

  /**
   * Handles a heartbeat. Returns the number of ms that this machine's monotonic clock has missed and must be advanced
   * by.
   */
  heard(tag: string, clockMs: number, nowMs: number): number {
    const latest = clockMs - nowMs;
    const seen = this.seen.get(tag) ?? { latest, most: latest, heartbeats: 0, heardMs: nowMs, isUp: true, apart: 0 };
    this.seen.set(tag, seen);
    seen.latest = latest;
    seen.isUp = true;
    seen.heartbeats++;
    const jumpMs = latest - seen.most;
    if (seen.heartbeats <= FIRST_HEARTBEATS) seen.most = Math.max(seen.most, latest);
    else if (Math.abs(jumpMs) >= PAUSE_MIN_MS) this.noteApart(seen, jumpMs);
    else {
      const risen = seen.most + (nowMs - seen.heardMs) * DRIFT;
      seen.most = Math.max(seen.most, Math.min(latest, risen));
      seen.apart = 0;
    }
    seen.heardMs = nowMs;
    return this.missedMs();
  }

  /**
   * Keeps the estimate of the peer's clock, because peers drop the link to a paused machine and open a new one
   * afterwards.
   */
  linkLost(tag: string): void {
    const seen = this.seen.get(tag);
    if (seen === undefined) return;
    seen.isUp = false;
    // Move the peer to the end of the map: the peer that lost its link first is evicted first.
    this.seen.delete(tag);
    this.seen.set(tag, seen);
    for (const [other, { isUp }] of this.seen) {
      if (this.seen.size <= KEPT_MAX) return;
      if (!isUp) this.seen.delete(other);
    }
  }

  private noteApart(seen: Seen, jumpMs: number): void {
    seen.apart++;
    if (seen.apart < (jumpMs > 0 ? AHEAD_HEARTBEATS : BEHIND_HEARTBEATS)) return;
    seen.most = seen.latest;
    seen.apart = 0;
  }

  /** Returns the smallest jump if more than half of the peers show one; otherwise 0. */
  private missedMs(): number {
    const all = [...this.seen.values()].filter(({ isUp }) => isUp);
    const jumps = all.map(({ latest, most }) => latest - most).filter((ms) => ms >= PAUSE_MIN_MS);
    if (jumps.length * 2 <= all.length) return 0;
    const missedMs = Math.min(...jumps);
    for (const seen of this.seen.values()) {
      seen.latest -= missedMs;
      seen.apart = 0;
    }
    return missedMs;
  }
}
