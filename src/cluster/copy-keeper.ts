import type { Copy, CopyOutcome } from '../shard/log/copies.js';
import { RecentEntries } from '../shard/log/recent-entries.js';
import type { EncodedEntry } from '../shard/log/wal.js';

/**
 * After asking for seals, a new owner may begin to write its fence for this long. The fence then arrives within some
 * seconds, or never.
 */
export const SEAL_USED_MS = 1000;
const SEALED_MS = 5000;

interface Seal {
  /** Tag of the node that takes the log over. */
  readonly by: string;
  readonly untilMs: number;
}

/** Newest entries of logs that other nodes write, kept for a node that takes one of them over. */
export class CopyKeeper {
  private readonly kept = new Map<number, RecentEntries>();
  private readonly seals = new Map<number, Seal>();
  /** The newest epoch that each log is known to have been served in. */
  private readonly owned = new Map<number, number>();

  /** `bytesMax`: of each log. */
  constructor(private readonly bytesMax: number) {}

  /** Stores a copy. `none`: another node is taking over, or has taken over, the log of the owner `from`. */
  put({ shard, base, entries, isWhole }: Copy, from: string, nowMs: number): CopyOutcome {
    const kept = this.kept.get(shard);
    const newest = entries.at(-1)?.head ?? base;
    if (this.isSealed(shard, from, nowMs) || newest.lsn.epoch < this.oldestEpoch(shard)) return 'none';
    if (kept?.findAfter(newest) !== undefined) return 'held';
    const missing = kept?.findAfter(base)?.length === 0;
    if (!missing && !isWhole) return 'gap';
    const into = missing && kept !== undefined ? kept : new RecentEntries(base, this.bytesMax);
    // A frame of the link is as long as all that came with it, and would stay as long as any of that.
    for (const { head, bytes } of entries) into.add({ head, bytes: Buffer.from(bytes) });
    this.kept.set(shard, into);
    return 'held';
  }

  /**
   * Entries held here behind `sequence`, for a node that is about to fence the log. For a while the seal stops every
   * other node from adding entries, and so from acknowledging them, and from fencing the log. Undefined while another
   * node has the seal.
   */
  seal(shard: number, by: string, sequence: number, nowMs: number): readonly EncodedEntry[] | undefined {
    if (this.isSealed(shard, by, nowMs)) return undefined;
    this.seals.set(shard, { by, untilMs: nowMs + SEALED_MS });
    return (
      this.kept
        .get(shard)
        ?.all()
        .filter(({ head }) => head.lsn.sequence > sequence) ?? []
    );
  }

  /** Logs that the node `by` is about to fence. */
  sealedBy(by: string, nowMs: number): readonly number[] {
    return [...this.seals].flatMap(([shard, seal]) => (seal.by === by && nowMs < seal.untilMs ? [shard] : []));
  }

  /** Removes the seal of a node that does not fence the log after all. */
  unseal(shard: number, by: string): void {
    if (this.seals.get(shard)?.by === by) this.seals.delete(shard);
  }

  /**
   * Records that the member `by` serves the log in this epoch: entries from an earlier owner are refused for good. A
   * failover can lose the fence against that owner, and the store then lets it append. A late message about an older
   * epoch is ignored; it says nothing about the epoch that its member is about to begin.
   */
  ownedSince(shard: number, epoch: number, by: string): void {
    if (epoch < this.oldestEpoch(shard)) return;
    this.owned.set(shard, epoch);
    this.unseal(shard, by);
  }

  private oldestEpoch(shard: number): number {
    return Math.max(this.owned.get(shard) ?? 0, this.kept.get(shard)?.newest.lsn.epoch ?? 0);
  }

  /** Whether another node is taking the log over. */
  private isSealed(shard: number, tag: string, nowMs: number): boolean {
    const seal = this.seals.get(shard);
    return seal !== undefined && nowMs < seal.untilMs && seal.by !== tag;
  }
}
