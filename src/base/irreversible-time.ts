/** Readings of all reachable clocks at one moment, in milliseconds since 1970. */
export interface TimeWitnesses {
  /** This machine's wall clock. */
  readonly ourMs: number;
  /** The connected members' wall clocks. */
  readonly peersMs: readonly number[];
  /** The clock of the archive's server. Undefined if the archive has no server or the server does not answer. */
  readonly serverMs: number | undefined;
  /** The known time, used if no other clock confirms this machine's clock. Undefined if no confirmed time is known. */
  readonly known: KnownTime | undefined;
}

/** A confirmed time and the time that walletd has run since then. */
export interface KnownTime {
  readonly confirmedMs: number;
  /**
   * Run time since the confirmation, measured with the monotonic clock. Does not include suspensions or the time
   * between restarts.
   */
  readonly elapsedMs: number;
}

/**
 * The factor by which confirmed time may run faster than real time on a node whose clock no other clock confirms. A
 * node that was down for 30 days catches up after 30 hours. A clock that is 200 days ahead deletes no data for hours,
 * and after that it deletes one day's data per hour.
 */
export const ADVANCE_RATE = 24;

/**
 * The latest time that an irreversible action (dropping days of the archive, forgetting ids) may use as the current
 * time. Undefined if no such action is allowed now.
 *
 * The earliest of all clocks counts, because acting too late costs space, whereas acting too early costs data. A single
 * clock is not a confirmation: without other members and without a server, the result is at most the known time plus a
 * bounded advance.
 */
export function irreversibleTimeMs({ ourMs, peersMs, serverMs, known }: TimeWitnesses): number | undefined {
  const others = serverMs === undefined ? peersMs : [...peersMs, serverMs];
  if (others.length > 0) return Math.min(ourMs, ...others);
  if (known === undefined) return undefined;
  return Math.min(ourMs, known.confirmedMs + known.elapsedMs * ADVANCE_RATE);
}

/**
 * The longest retention among the members, because they share the data. An older walletd does not report its retention
 * (undefined).
 */
export function longestRetentionMs(ownMs: number, othersMs: readonly (number | undefined)[]): number {
  return Math.max(ownMs, ...othersMs.map((ms) => ms ?? Number.POSITIVE_INFINITY));
}

/** Confirmed time. The process sends it to its threads, which use it for irreversible actions. */
export interface ConfirmedTime {
  readonly timeMs: number;
  /** The longest retention of any member. It is infinite while a member does not report its retention. */
  readonly retentionMs: number;
}

/** Data may be permanently deleted if its last change was before this time. Undefined if nothing may be deleted. */
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
