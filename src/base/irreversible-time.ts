/** Readings of all reachable clocks at one moment. All in milliseconds since 1970. */
export interface TimeWitnesses {
  /** The wall clock of this machine. */
  readonly ourMs: number;
  /** Wall clocks of the linked members. */
  readonly peersMs: readonly number[];
  /** The clock of the archive's server; undefined without a server, or without an answer. */
  readonly serverMs: number | undefined;
  /** Last resort of a node whose clock no other clock confirms; undefined when no time is known. */
  readonly known: KnownTime | undefined;
}

/** A confirmed time, and how long walletd has run since. */
export interface KnownTime {
  readonly confirmedMs: number;
  /** Measured by the monotonic clock; pauses and restarts add nothing. */
  readonly elapsedMs: number;
}

/**
 * How much faster than real time a node without witnesses believes its own clock. A node that was down for 30 days
 * catches up after 30 hours. A clock that is 200 days ahead destroys nothing for hours, and after that one day's slice
 * each hour.
 */
export const ADVANCE_RATE = 24;

/**
 * The newest moment that an irreversible act (dropping days of the archive, forgetting ids) may count from. Undefined:
 * no such act now.
 *
 * The earliest of all clocks decides, because acting too late costs space and acting too early costs data. A clock
 * alone confirms nothing: without members and without a server, the result is bounded by the known time and a limited
 * advance.
 */
export function irreversibleTimeMs({ ourMs, peersMs, serverMs, known }: TimeWitnesses): number | undefined {
  const others = serverMs === undefined ? peersMs : [...peersMs, serverMs];
  if (others.length > 0) return Math.min(ourMs, ...others);
  if (known === undefined) return undefined;
  return Math.min(ourMs, known.confirmedMs + known.elapsedMs * ADVANCE_RATE);
}

/**
 * The longest retention among the members, because they keep data together. An older walletd does not report one
 * (undefined).
 */
export function longestRetentionMs(ownMs: number, othersMs: readonly (number | undefined)[]): number {
  return Math.max(ownMs, ...othersMs.map((ms) => ms ?? Number.POSITIVE_INFINITY));
}

/** Confirmed time as the process sends it to its threads: their irreversible acts count from it. */
export interface ConfirmedTime {
  readonly timeMs: number;
  /** Infinite while a member does not report how long it keeps data. */
  readonly retentionMs: number;
}

/** Data last changed before this moment may be deleted for good. Undefined: nothing may be deleted. */
export function expiredBeforeMs(
  ourMs: number,
  ownRetentionMs: number,
  confirmed: ConfirmedTime | undefined,
  serverMs: number | undefined,
): number | undefined {
  const peersMs = confirmed === undefined ? [] : [confirmed.timeMs];
  const timeMs = irreversibleTimeMs({ ourMs, peersMs, serverMs, known: undefined });
  if (timeMs === undefined || confirmed === undefined) return undefined;
  const beforeMs = timeMs - Math.max(ownRetentionMs, confirmed.retentionMs);
  return Number.isFinite(beforeMs) ? beforeMs : undefined;
}
