import { HANDOVER_MS } from '../threads/shards.js';

/** A time limit or a number of retries in the life of a replica, and the reason for its value. */
export interface Timer {
  readonly ms: number;
  readonly why: string;
}

/** All times that a replica waits for. They are measured on this node's monotonic clock. */
export const TIMERS = {
  look: { ms: 50, why: 'Minimum time between two reads of a head: as long as a tick.' },
  want: { ms: 200, why: 'Interval of hand-over requests: a lost request costs one heartbeat.' },
  wantShort: {
    ms: 2000,
    why: 'Interval of requests after an offer of a short log: the live owner pauses for each offer, and may append the lost end before it is fenced.',
  },
  force: { ms: 5000, why: 'A live owner that has been asked for this long and has not handed over is fenced.' },
  offer: {
    ms: 350,
    why: 'Validity of an offer. Shorter than the pause: a fence after the resume could hide entries that were acknowledged since.',
  },
  handover: {
    ms: HANDOVER_MS,
    why: 'Pause for a hand-over: a resume while the new owner fences costs more. With 150 ms, many failed on busy nodes.',
  },
  kept: { ms: 1000, why: 'Service after a failed hand-over, so that the shard is not paused most of the time.' },
  unlinked: { ms: 400, why: 'A new owner without a link reads the release in the registry after this time.' },
  names: { ms: 3000, why: 'Wait for the key filter before the warning. An archive that answers is sooner.' },
  lost: { ms: 3000, why: 'After the thread of a shard ends, another node that reads the log can take the shard.' },
  short: { ms: 5000, why: 'Time for a node that has the lost end of the log to append it again.' },
  retry: { ms: 200, why: 'Pause after a command that failed, because a store that answers again does so suddenly.' },
  retryPermanent: { ms: 1500, why: 'Pause after a permanent failure: the log may be under repair.' },
  stuck: { ms: 1500, why: 'An owner whose append or read of the head waits longer cannot reach its log.' },
} as const satisfies Record<string, Timer>;

/** Permanent failures in a row that stop the shard. The first ones may come from a log that was trimmed while read. */
export const FAILURES_MAX = 4;
/** Entries that the new owner may still lack when the owner pauses. It reads them during the pause. */
export const LAG_MAX = 64;
/** Shards that one node hands over at the same time. */
export const HANDOVERS_MAX = 2;
