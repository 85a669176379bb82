import type { Copy, CopyOutcome } from '../shard/log/copies.js';
import { RecentEntries } from '../shard/log/recent-entries.js';
import type { SealedEntry } from '../shard/log/wal.js';

/**
 * For so long after it has asked, whoever takes a log over may begin to write its fence; what it sends then arrives within
 * some seconds, or never.
 */
export const SEAL_USED_MS = 1000;
const SEALED_MS = 5000;

interface Seal {
  /** The tag of who takes the log over. */
  readonly by: string;
  readonly untilMs: number;
}

/** The newest entries of logs that other nodes write, for whoever takes one of them over. */
export class CopyKeeper {
  private readonly kept = new Map<number, RecentEntries>();
  private readonly seals = new Map<number, Seal>();
  /** The newest epoch that each log is known to have been served in. */
  private readonly owned = new Map<number, number>();

  /** `bytesMax`: of each log. */
  constructor(private readonly bytesMax: number) {}

  /** `none`: it is `from` an owner from whom another one is taking the log, or has taken it. */
  put({ shard, base, entries, isWhole }: Copy, from: string, nowMs: number): CopyOutcome {
    const kept = this.kept.get(shard);
    const newest = entries.at(-1)?.head ?? base;
    if (this.isSealed(shard, from, nowMs) || newest.lsn.epoch < this.oldestEpoch(shard)) return 'none';
    if (kept?.maybeAfter(newest) !== undefined) return 'held';
    const missing = kept?.maybeAfter(base)?.length === 0;
    if (!missing && !isWhole) return 'gap';
    const into = missing && kept !== undefined ? kept : new RecentEntries(base, this.bytesMax);
    // A frame of the link is as long as all that came with it, and would stay as long as any of that.
    for (const { head, bytes } of entries) into.add({ head, bytes: Buffer.from(bytes) });
    this.kept.set(shard, into);
    return 'held';
  }

  /**
   * What is here of the log behind `sequence`, for who is about to fence it: for a while nobody else can add anything, and so
   * tell nothing, nor fence it. Undefined while that is so for another one.
   */
  seal(shard: number, by: string, sequence: number, nowMs: number): readonly SealedEntry[] | undefined {
    if (this.isSealed(shard, by, nowMs)) return undefined;
    this.seals.set(shard, { by, untilMs: nowMs + SEALED_MS });
    return (
      this.kept
        .get(shard)
        ?.all()
        .filter(({ head }) => head.lsn.sequence > sequence) ?? []
    );
  }

  /** Logs that this one is about to fence. */
  sealedBy(by: string, nowMs: number): readonly number[] {
    return [...this.seals].flatMap(([shard, seal]) => (seal.by === by && nowMs < seal.untilMs ? [shard] : []));
  }

  /** Who was about to fence the log does not. */
  unseal(shard: number, by: string): void {
    if (this.seals.get(shard)?.by === by) this.seals.delete(shard);
  }

  /**
   * The log is served in this epoch `by` a member: what an owner before that brings is refused for good. A failover can lose
   * the fence that stands against him, and the store lets him append then. Word of an older epoch that comes late says nothing
   * of the one that its member is about to begin.
   */
  ownedSince(shard: number, epoch: number, by: string): void {
    if (epoch < this.oldestEpoch(shard)) return;
    this.owned.set(shard, epoch);
    this.unseal(shard, by);
  }

  private oldestEpoch(shard: number): number {
    return Math.max(this.owned.get(shard) ?? 0, this.kept.get(shard)?.newest.lsn.epoch ?? 0);
  }

  /** Somebody else is taking it. */
  private isSealed(shard: number, tag: string, nowMs: number): boolean {
    const seal = this.seals.get(shard);
    return seal !== undefined && nowMs < seal.untilMs && seal.by !== tag;
  }
}
