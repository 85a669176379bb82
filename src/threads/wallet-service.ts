import type { Clock } from '../base/clock.js';
import type { Replier } from '../base/replier.js';
import { formatLsn } from '../ports/lsn.js';
import { TOO_LATE } from '../ports/request.js';
import { BACKGROUND, type SnapshotResult } from '../snapshot/snapshotter.js';
import type { OperatorCommand } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { PlayerQuery, Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import { shardOf } from './placement.js';
import type { Shards } from './shards.js';

/** Whether this node can accept a new bet and, if not, the reason. */
export type Readiness = 'ready' | 'starting' | 'warming-up' | 'archive-unknown';

/**
 * Access to all wallets of this process, for the operator API. Callers name players, and this class finds their shards.
 */
export class WalletService {
  /**
   * True from the first recovery of all shards until shutdown begins. It stays true if a single shard stops, so that
   * the node keeps receiving traffic.
   */
  isServing = false;
  /** True while the main thread executes callbacks of its own, before the node takes its shards. */
  isWarmingUp = false;
  private snapshotting: Promise<unknown> = Promise.resolve();
  /** The next round of snapshots. All calls that arrive while a round is running share it. */
  private nextSnapshots: Promise<readonly SnapshotResult[]> | undefined = undefined;

  constructor(
    private readonly shards: Pick<Shards, 'execute' | 'ask' | 'status' | 'takeSnapshots'>,
    readonly shardCount: number,
    private readonly clock: Clock,
    private readonly deadlineMs: number,
    /** True if this node is connected to the cluster. Without a cluster it is always true. */
    private readonly isConnected: () => boolean = () => true,
    /** The explanation of each shard's state, by shard; empty if there is none. */
    private readonly explanations: () => readonly object[] = () => [],
  ) {}

  get isReady(): boolean {
    return this.readiness === 'ready';
  }

  /** `archive-unknown` means that a shard does not know the keys in its archive and the archive does not answer. */
  get readiness(): Readiness {
    if (this.isWarmingUp) return 'warming-up';
    if (!this.isServing || !this.isConnected()) return 'starting';
    const isUnknown = this.shards.status().some(({ state, lacksNames }) => state === 'serving' && lacksNames);
    return isUnknown ? 'archive-unknown' : 'ready';
  }

  /**
   * Executes a command and resolves by the deadline. If the answer is `not-durable-in-time`, the outcome is unknown.
   */
  async operate(command: OperatorCommand): Promise<Answer> {
    return await this.inTime<Answer>((replier) => {
      this.shards.execute(this.shardOf(command.username), command, this.deadline(), replier);
    });
  }

  async ask(question: PlayerQuery): Promise<QueryResult | BusyAnswer> {
    return await this.askShard(this.shardOf(question.username), question);
  }

  async askShard(shard: number, question: Query): Promise<QueryResult | BusyAnswer> {
    return await this.inTime<QueryResult | BusyAnswer>((replier) => {
      this.shards.ask(shard, question, this.deadline(), replier);
    });
  }

  /**
   * Runs one round of snapshots at a time. Calls during a round share the next one, because the running round may not
   * include the latest changes.
   */
  takeSnapshots(): Promise<readonly SnapshotResult[]> {
    this.nextSnapshots ??= this.snapshotting
      .catch(() => {})
      .then(() => {
        this.nextSnapshots = undefined;
        const results = this.shards.takeSnapshots(BACKGROUND);
        this.snapshotting = results;
        return results;
      });
    return this.nextSnapshots;
  }

  /** A human-readable status. It shows the head's LSN without the nonce and the checksum. */
  status(): readonly object[] {
    const explanations = this.explanations();
    return this.shards.status().map(({ shard, state, players, waiting, head, reason }) => ({
      shard,
      state,
      players,
      waiting,
      lsn: head && formatLsn(head.lsn),
      reason,
      replica: explanations[shard],
    }));
  }

  private shardOf(username: string): number {
    return shardOf(username, this.shardCount);
  }

  private deadline(): number {
    return this.clock.monotonicMs() + this.deadlineMs;
  }

  private inTime<T>(submit: (replier: Replier<T | BusyAnswer>) => void): Promise<T | BusyAnswer> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(TOO_LATE), this.deadlineMs);
      submit({
        reply: (result) => {
          clearTimeout(timer);
          resolve(result);
        },
      });
    });
  }
}
