/** Readings of one moment, one for each clock that could be asked. All in milliseconds since 1970. */
export interface TimeWitnesses {
  /** The wall clock of this machine. */
  readonly ourMs: number;
  /** Wall clocks of the linked members. */
  readonly peersMs: readonly number[];
  /** The clock of the archive's server; undefined without a server, or without an answer. */
  readonly serverMs: number | undefined;
  /** Last resort of a node that nobody can confirm; undefined when nothing is known. */
  readonly known: KnownTime | undefined;
}

/** A time that was confirmed before, and how long walletd has run since. */
export interface KnownTime {
  readonly confirmedMs: number;
  /** By the monotonic clock; pauses and restarts add nothing. */
  readonly elapsedMs: number;
}

/**
 * How much faster than real time a node without witnesses believes its own clock. A node that was down for 30 days has
 * caught up after 30 hours; a clock that is 200 days ahead destroys nothing for hours, and a day's slice each hour after that.
 */
export const ADVANCE_RATE = 24;

/**
 * The newest moment that an irreversible act may count from: dropping days of the archive, forgetting ids. Undefined: no
 * such act now.
 *
 * The earliest of all clocks decides, because acting too late costs room and acting too early costs data. A clock
 * alone confirms nothing: without members and without a server it is held to the known time and a bounded advance.
 */
export function irreversibleTimeMs({ ourMs, peersMs, serverMs, known }: TimeWitnesses): number | undefined {
  const others = serverMs === undefined ? peersMs : [...peersMs, serverMs];
  if (others.length > 0) return Math.min(ourMs, ...others);
  if (known === undefined) return undefined;
  return Math.min(ourMs, known.confirmedMs + known.elapsedMs * ADVANCE_RATE);
}

/** Members keep data together: the longest retention among them counts. An older walletd does not say (undefined). */
export function longestRetentionMs(ownMs: number, othersMs: readonly (number | undefined)[]): number {
  return Math.max(ownMs, ...othersMs.map((ms) => ms ?? Number.POSITIVE_INFINITY));
}

/** Confirmed time, as the process sends it to its threads: their irreversible acts count from here. */
export interface ConfirmedTime {
  readonly timeMs: number;
  /** Infinite while a member does not say how long it keeps data. */
  readonly retentionMs: number;
}

/** Data that was last changed before this moment may go for good; undefined: nothing may go. */
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
