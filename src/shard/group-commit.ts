import type { Append, AppendOutcome, Wal } from './log/wal.js';

/** A shard, as group commit sees it. */
export interface FlightMember {
  /** What it has for the next flight, or the same again when the outcome of the last one is unknown. */
  depart(): Append | undefined;
  /** What became of `append`, which it had given, after so many milliseconds. */
  land(append: Append, outcome: AppendOutcome, tookMs: number): void;
}

/** Runs `callback` once the events of this turn of the event loop have been handled. */
export type Defer = (callback: () => void) => void;

const BACKOFF_MIN_MS = 20;
const BACKOFF_MAX_MS = 1000;
/**
 * A flight departs with this many commands at the latest, or so long after the first of them when each turn brings more.
 * By the clock, not by turns: with 8,000 busy connections one turn of the event loop takes 100 ms.
 */
const FLIGHT_COMMANDS = 256;
const FLIGHT_WAIT_MS = 2;

/**
 * Group commit: one flight to the store at a time for all members. What arrives while a flight is in the air forms the
 * next one. A flight departs at the end of the first turn of the event loop that brought no further command:
 * an idle server answers at once, a busy one fills its entries by itself, and no timer is needed.
 *
 *   commands   c1 c2 c3 | c4 c5 c6 c7 c8  | c9 ...
 *   flights       ------> c1-c3 durable
 *                                 ------> c4-c8 durable
 *
 * Measured with 128 connections on 2 cores: appending each of 16 logs on its own costs a third of the throughput;
 * departing at the end of every turn, in twice as many flights of half the size, costs 6 %.
 */
export class GroupCommit {
  private readonly members: FlightMember[] = [];
  private isScheduled = false;
  private isFlying = false;
  private backoffMs = 0;
  /** Commands that the next flight has so far. */
  private commands = 0;

  constructor(
    private readonly wal: Wal,
    private readonly defer: Defer,
    private readonly delay: (callback: () => void, ms: number) => void,
    private readonly monotonicMs: () => number,
  ) {}

  join(member: FlightMember): void {
    this.members.push(member);
  }

  /** A member has one more command for the next flight. */
  request(): void {
    this.commands++;
    if (this.isScheduled || this.isFlying) return;
    this.isScheduled = true;
    this.awaitQuietTurn(this.commands, this.monotonicMs() + FLIGHT_WAIT_MS);
  }

  private awaitQuietTurn(commandsBefore: number, departsByMs: number): void {
    this.defer(() => {
      const isQuiet = this.commands === commandsBefore;
      if (isQuiet || this.commands >= FLIGHT_COMMANDS || this.monotonicMs() >= departsByMs) {
        this.isScheduled = false;
        void this.fly();
      } else {
        this.awaitQuietTurn(this.commands, departsByMs);
      }
    });
  }

  private async fly(): Promise<void> {
    const travellers: FlightMember[] = [];
    const appends: Append[] = [];
    // First of all: a member that departs takes what waited in its mailbox, and asks for the next flight.
    this.isFlying = true;
    this.commands = 0;
    for (const member of this.members) {
      const append = member.depart();
      if (append === undefined) continue;
      travellers.push(member);
      appends.push(append);
    }
    const departedMs = this.monotonicMs();
    const outcomes = appends.length === 0 ? [] : await this.outcomesOf(appends);
    const tookMs = this.monotonicMs() - departedMs;
    this.isFlying = false;
    if (appends.length === 0) return;
    let failures = 0;
    for (let i = 0; i < travellers.length; i++) {
      const outcome = outcomes[i] as AppendOutcome;
      if (outcome.type === 'failed') failures++;
      (travellers[i] as FlightMember).land(appends[i] as Append, outcome, tookMs);
    }
    // Where some got through, the others are tried again with the next flight: they hold up nobody.
    const isOutage = failures === travellers.length;
    this.backoffMs = isOutage ? Math.min(Math.max(this.backoffMs * 2, BACKOFF_MIN_MS), BACKOFF_MAX_MS) : 0;
    this.isScheduled = true;
    if (isOutage) this.pause();
    else this.awaitQuietTurn(0, this.monotonicMs() + FLIGHT_WAIT_MS);
  }

  /** A store that rejects, though it must not, leaves the outcome as unknown as any other transient error. */
  private async outcomesOf(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    try {
      return await this.wal.append(appends);
    } catch (error) {
      return appends.map(() => ({ type: 'failed', error: error as Error }));
    }
  }

  /** In an outage the same bytes go again, less and less often. */
  private pause(): void {
    this.delay(() => {
      this.isScheduled = false;
      void this.fly();
    }, this.backoffMs);
  }
}
