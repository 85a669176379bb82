import type { Clock } from '../../base/clock.js';
import { isConfirmedOn } from '../../base/confirmed-on.js';
import { irreversibleTimeMs, longestRetentionMs } from '../../base/irreversible-time.js';
import type { Logger } from '../../base/logger.js';
import { messageOf } from '../../base/message-of.js';
import { DAY_MS } from '../../base/time.js';
import type { Cancel, Timers } from '../../base/timers.js';
import type { ClusterWitnesses } from '../../cluster/cluster-node.js';
import type { Shards } from '../../threads/shards.js';
import type { TimeRecord } from '../folder/time-record.js';

export interface TimeKeeperDeps {
  readonly shards: Pick<Shards, 'status' | 'confirmTime'>;
  /** The clocks of the other cluster members; undefined if this node has no cluster. */
  readonly cluster: () => ClusterWitnesses | undefined;
  readonly retentionMs: number;
  /** The value of the `clock.confirmedOn` setting. */
  readonly confirmedOn: string | null;
  readonly record: Pick<TimeRecord, 'confirmedMs' | 'write'>;
  /** The machine's own clock, without corrections. */
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
}

/** Differences in ms between this machine's clock and other known times. */
export interface TimeMeasures {
  /** This machine's clock minus the confirmed time. Irreversible actions lag behind the clock by this difference. */
  readonly unconfirmedMs: number;
  /** The newest log time minus this machine's clock; 0 if the clock is ahead. */
  readonly logAheadMs: number;
}

const TICK_MS = 10_000;
const SAVE_MS = 60_000;
/** Tolerated difference between the clocks of machines that serve the same log one after another. */
export const LOG_AHEAD_MS = 60_000;
/** Long enough that downtime over a weekend or during a repair does not raise an alert. */
export const UNCONFIRMED_MS = DAY_MS;

/**
 * Maintains the time that this process's threads use for irreversible actions. Warns if clock, log and confirmed time
 * disagree. The rule is in base/irreversible-time.ts. Each thread reads the clock of the archive's server on its own.
 */
export class TimeKeeper {
  private known: { readonly confirmedMs: number; readonly atMs: number } | undefined = undefined;
  private savedMs = Number.NEGATIVE_INFINITY;
  private cancels: readonly Cancel[] = [];
  private isUnconfirmed = false;
  private isLogAhead = false;
  private problem: string | undefined = undefined;

  constructor(private readonly deps: TimeKeeperDeps) {}

  /**
   * Call this once the shards serve. `foundMs` is the newest log time before this process wrote to the logs; 0 if the
   * logs were empty. If it is undefined, the current log time is used.
   */
  start(foundMs?: number): void {
    const { record, clock, timers } = this.deps;
    const beganMs = record.confirmedMs ?? foundMs ?? this.logMs;
    // An empty log contains nothing that could be lost, so the clock can be trusted.
    this.know(beganMs === 0 ? clock.now() : beganMs);
    this.tick();
    this.cancels = [timers.every(TICK_MS, () => this.tick()), timers.every(SAVE_MS, () => this.save())];
  }

  stop(): void {
    for (const cancel of this.cancels) cancel();
    if (this.cancels.length > 0) this.save();
  }

  get measures(): TimeMeasures {
    const ourMs = this.deps.clock.now();
    return {
      unconfirmedMs: Math.max(ourMs - (this.confirmedMs(ourMs) ?? ourMs), 0),
      logAheadMs: Math.max(this.logMs - ourMs, 0),
    };
  }

  /** The newest log time of all shards that this process reads; 0 if there is none. */
  private get logMs(): number {
    return this.deps.shards.status().reduce((newest, { timeMs }) => Math.max(newest, timeMs), 0);
  }

  private know(confirmedMs: number): void {
    this.known = { confirmedMs, atMs: this.deps.clock.monotonicMs() };
  }

  private confirmedMs(ourMs: number): number | undefined {
    const { clock, cluster, confirmedOn } = this.deps;
    // An operator's confirmation of this clock has the same weight as the clock of another member.
    const peersMs = [...(cluster()?.peersMs ?? []), ...(isConfirmedOn(confirmedOn, ourMs) ? [ourMs] : [])];
    const { known } = this;
    return irreversibleTimeMs({
      ourMs,
      peersMs,
      serverMs: undefined,
      known: known && { confirmedMs: known.confirmedMs, elapsedMs: clock.monotonicMs() - known.atMs },
    });
  }

  private tick(): void {
    const { clock, cluster, retentionMs, shards } = this.deps;
    const ourMs = clock.now();
    const timeMs = this.confirmedMs(ourMs);
    this.report();
    if (timeMs === undefined) return;
    const witnesses = cluster();
    const isWitnessed = (witnesses?.peersMs.length ?? 0) > 0;
    // Earlier confirmations stay valid if the clock is set back for a moment.
    if (isWitnessed || timeMs >= (this.known?.confirmedMs ?? 0)) this.know(timeMs);
    shards.confirmTime({ timeMs, retentionMs: longestRetentionMs(retentionMs, witnesses?.retentionsMs ?? []) });
  }

  private report(): void {
    const { log, clock } = this.deps;
    const { unconfirmedMs, logAheadMs } = this.measures;
    const isUnconfirmed = unconfirmedMs > UNCONFIRMED_MS;
    const nowMs = clock.now();
    const at = { clock: iso(nowMs), confirmed: iso(nowMs - unconfirmedMs), aheadSeconds: seconds(unconfirmedMs) };
    if (isUnconfirmed && !this.isUnconfirmed) {
      log.warn({ code: 'clock-unconfirmed', ...at }, 'clock is far ahead of the last confirmed time');
    }
    this.isUnconfirmed = isUnconfirmed;
    const isLogAhead = logAheadMs > LOG_AHEAD_MS;
    if (isLogAhead && !this.isLogAhead) {
      const found = { clock: iso(nowMs), log: iso(nowMs + logAheadMs), aheadSeconds: seconds(logAheadMs) };
      log.warn({ code: 'log-time-ahead', ...found }, 'log time is ahead of the clock');
    }
    this.isLogAhead = isLogAhead;
  }

  private save(): void {
    const { record, log } = this.deps;
    const confirmedMs = this.known?.confirmedMs;
    if (confirmedMs === undefined || confirmedMs === this.savedMs) return;
    try {
      record.write(confirmedMs);
      this.savedMs = confirmedMs;
      this.problem = undefined;
    } catch (error) {
      const message = messageOf(error);
      if (message !== this.problem) {
        log.warn({ code: 'time-record-failed', error: message }, 'cannot record the confirmed time');
      }
      this.problem = message;
    }
  }
}

/** A damaged log may contain any number as a time, even one that is not a valid date. */
function iso(timeMs: number): string {
  const date = new Date(Math.floor(timeMs));
  return Number.isNaN(date.getTime()) ? String(timeMs) : date.toISOString();
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
