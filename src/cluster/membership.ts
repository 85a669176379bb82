import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { MemberRecord, MembershipRegistry, RegistryView } from '../ports/table.js';
import type { Watch } from './watch.js';

export interface MembershipDeps {
  readonly tag: string;
  readonly table: MembershipRegistry;
  readonly watch: Watch;
  /** The current record of this member. */
  readonly record: () => MemberRecord;
  readonly onView: (view: RegistryView) => void;
  /** Called when other members have removed this member as dead, and may have taken its shards. */
  readonly onGone: () => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
}

export const HEARTBEAT_MS = 200;
/** Interval between reads of the registry while a member is suspected dead. */
const HASTE_MS = 50;
/** Minimum interval between two writes of this member's record. */
const RECORD_MS = 1000;
/**
 * A read of the registry that takes this long shows nothing about the members. It is as long as a member must be silent
 * to be suspected dead: with 200 ms, a registry that is merely slow hid dead members for ever.
 */
const UNANSWERED_MS = 1000;
/** The registry counts as unreachable after this long without an answer. */
const SEEN_MS = 5000;

/**
 * This node's membership. Joins the registry, writes heartbeats, and reads changes. Joins again if the registry was
 * lost.
 */
export class Membership {
  /** The newest view that this node has read. */
  view: RegistryView | undefined = undefined;
  private seenMs = Number.NEGATIVE_INFINITY;
  private heartbeats = 0;
  private askedMs = Number.NEGATIVE_INFINITY;
  private asking: Promise<void> | undefined = undefined;
  /** True if the registry must be read at the next tick, because something may have changed. */
  private isHasty = false;
  private written = '';
  private writtenMs = Number.NEGATIVE_INFINITY;
  private problem: string | undefined = undefined;
  private stopTicking: Cancel = () => {};
  private hasLeft = false;

  constructor(private readonly deps: MembershipDeps) {}

  /** Joins the registry. Rejects if the registry cannot be reached. */
  async join(): Promise<void> {
    await this.write();
    await this.ask();
    this.stopTicking = this.deps.timers.every(HASTE_MS, () => this.tick());
  }

  /** True if the registry has answered within the last 5 s. */
  get seesTable(): boolean {
    return this.deps.clock.monotonicMs() - this.seenMs < SEEN_MS;
  }

  /** Reads the registry. Resolves after a read that began after this call. */
  async refresh(): Promise<void> {
    await this.asking;
    await (this.asking ?? this.ask());
  }

  /** Reads the registry at once, because something may have changed. */
  look(): void {
    this.isHasty = true;
    this.tick();
  }

  /** Writes this member's record at once. */
  async sendHeartbeat(): Promise<void> {
    await this.write();
  }

  async leave(): Promise<void> {
    this.hasLeft = true;
    this.stopTicking();
    await this.deps.table.leave(this.deps.tag);
  }

  /** Stops without leaving the registry. */
  stop(): void {
    this.hasLeft = true;
    this.stopTicking();
  }

  private tick(): void {
    const { clock, watch } = this.deps;
    const nowMs = clock.monotonicMs();
    const sinceMs = nowMs - this.askedMs;
    if (this.asking !== undefined) {
      if (sinceMs >= UNANSWERED_MS) watch.registrySilent(nowMs);
      return;
    }
    if (this.isHasty || sinceMs >= HEARTBEAT_MS || (sinceMs >= HASTE_MS && this.isAnySuspect(nowMs))) void this.ask();
  }

  /** True if any other member may be dead. */
  isAnySuspect(nowMs: number): boolean {
    const { watch, tag } = this.deps;
    for (const other of this.view?.members.keys() ?? [])
      if (other !== tag && watch.isSuspect(other, nowMs)) return true;
    return false;
  }

  private ask(): Promise<void> {
    this.asking = this.askOnce().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  /** Never rejects. */
  private async askOnce(): Promise<void> {
    const { clock, watch, log, table, tag } = this.deps;
    this.isHasty = false;
    this.askedMs = clock.monotonicMs();
    try {
      const answer = await table.heartbeat(tag, String(++this.heartbeats), this.view?.version ?? '');
      const nowMs = clock.monotonicMs();
      if (this.problem !== undefined) log.info({}, 'membership registry answers again');
      this.problem = undefined;
      this.seenMs = nowMs;
      if (answer.type === 'gone') {
        log.warn({ code: 'node-suspected-dead' }, 'this node was suspected dead, rejoining');
        // Call `onGone` before the record is written. The write can take effect even if it reports a failure, and the
        // other members then react to the record at once.
        this.deps.onGone();
        await this.write();
        this.isHasty = true;
      } else {
        watch.heartbeatsRead(answer.heartbeats, nowMs);
        if (answer.view !== undefined) this.view = answer.view;
        if (this.view !== undefined) this.deps.onView(this.view);
        await this.writeIfChanged(nowMs);
      }
    } catch (error) {
      watch.registrySilent(clock.monotonicMs());
      const message = messageOf(error);
      if (message !== this.problem) {
        log.warn(
          { code: 'registry-away', error: message },
          'membership registry does not answer, shards stay where they are',
        );
      }
      this.problem = message;
    }
  }

  private async writeIfChanged(nowMs: number): Promise<void> {
    if (nowMs - this.writtenMs < RECORD_MS || JSON.stringify(this.deps.record()) === this.written) return;
    await this.write();
  }

  private async write(): Promise<void> {
    if (this.hasLeft) return;
    const record = this.deps.record();
    this.writtenMs = this.deps.clock.monotonicMs();
    await this.deps.table.join(this.deps.tag, record);
    this.written = JSON.stringify(record);
  }
}
