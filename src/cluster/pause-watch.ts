/** A shorter pause is no more than a busy machine. */
export const PAUSE_MIN_MS = 500;
/** The first pulses of a link may be late, and make a peer's clock look behind. */
const FIRST_PULSES = 5;
/**
 * How fast what is believed of a peer's clock may rise: clocks drift by far less. Pulses that were held back during a pause come
 * together after it, each a little further ahead.
 */
const DRIFT = 0.01;
/** A peer that stays behind for so many pulses (30 s) was paused itself, and has not noticed. */
const BEHIND_PULSES = 150;
/** A peer that stays ahead for so many, while others do not, has another reason than our pause. */
const AHEAD_PULSES = 25;

/** Peers, among them processes that have ended. */
const KEPT_MAX = 256;

interface Seen {
  /** Theirs less ours: of the pulse heard last, and the most that is believed. A late pulse comes to less. */
  latest: number;
  most: number;
  pulses: number;
  heardMs: number;
  isUp: boolean;
  /** Pulses in a row that were far from the most. */
  apart: number;
}

/**
 * A suspended or restored machine stops its monotonic clock, and nothing on it notices: leases, seals and deadlines would
 * count from before the pause. The peers' clocks have gone on. When most of them are ahead by more than ever, this
 * one has missed time.
 */
export class PauseWatch {
  private readonly seen = new Map<string, Seen>();

  /** A pulse; returns how much this machine's monotonic clock has missed, for it to be put forward. Milliseconds. */
  heard(tag: string, clockMs: number, nowMs: number): number {
    const latest = clockMs - nowMs;
    const seen = this.seen.get(tag) ?? { latest, most: latest, pulses: 0, heardMs: nowMs, isUp: true, apart: 0 };
    this.seen.set(tag, seen);
    seen.latest = latest;
    seen.isUp = true;
    seen.pulses++;
    const jumpMs = latest - seen.most;
    if (seen.pulses <= FIRST_PULSES) seen.most = Math.max(seen.most, latest);
    else if (Math.abs(jumpMs) >= PAUSE_MIN_MS) this.noteApart(seen, jumpMs);
    else {
      const risen = seen.most + (nowMs - seen.heardMs) * DRIFT;
      seen.most = Math.max(seen.most, Math.min(latest, risen));
      seen.apart = 0;
    }
    seen.heardMs = nowMs;
    return this.missedMs();
  }

  /** Keeps the facts about the peer's clock: peers drop the link to a paused machine, and make it anew afterwards. */
  linkLost(tag: string): void {
    const seen = this.seen.get(tag);
    if (seen === undefined) return;
    seen.isUp = false;
    // The one kept longest goes first.
    this.seen.delete(tag);
    this.seen.set(tag, seen);
    for (const [other, { isUp }] of this.seen) {
      if (this.seen.size <= KEPT_MAX) return;
      if (!isUp) this.seen.delete(other);
    }
  }

  private noteApart(seen: Seen, jumpMs: number): void {
    seen.apart++;
    if (seen.apart < (jumpMs > 0 ? AHEAD_PULSES : BEHIND_PULSES)) return;
    seen.most = seen.latest;
    seen.apart = 0;
  }

  /** The least that more than half of the peers agree on. */
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
