import type { Copy, CopyOutcome } from '../log/copies.js';
import { RecentEntries } from '../log/recent-entries.js';
import type { EncodedEntry } from '../ports/wal.js';

/**
 * Maximum time between a new owner's request for seals and its attempt to write the fence. Once sent, the fence reaches
 * the log within a few seconds or never.
 */
export const SEAL_USED_MS = 1000;
const SEALED_MS = 5000;

interface Seal {
  /** Tag of the node that takes over the log. */
  readonly by: string;
  readonly untilMs: number;
}

/** Newest entries of logs that other nodes write, kept for a node that takes over one of these logs. */
export class CopyKeeper {
  private readonly kept = new Map<number, RecentEntries>();
  private readonly seals = new Map<number, Seal>();
  /** By shard: the newest epoch in which the log is known to have been served. */
  private readonly owned = new Map<number, number>();

  /** `bytesMax` applies to each log. */
  constructor(private readonly bytesMax: number) {}

  /** Stores a copy. Returns `none` if another node has taken over the log of the owner `from`, or is doing so. */
  put({ shard, base, entries, isWhole }: Copy, from: string, nowMs: number): CopyOutcome {
    const kept = this.kept.get(shard);
    const newest = entries.at(-1)?.head ?? base;
    if (this.isSealed(shard, from, nowMs) || newest.lsn.epoch < this.oldestEpoch(shard)) return 'none';
    if (kept?.findAfter(newest) !== undefined) return 'held';
    const missing = kept?.findAfter(base)?.length === 0;
    if (!missing && !isWhole) return 'gap';
    const into = missing && kept !== undefined ? kept : new RecentEntries(base, this.bytesMax);
    // Copy the bytes: a received frame is one large buffer, and any entry that points into it would keep all of it in
    // memory.
    for (const { head, bytes } of entries) into.add({ head, bytes: Buffer.from(bytes) });
    this.kept.set(shard, into);
    return 'held';
  }

  /**
   * Returns the entries held here after `sequence`, for a node that is about to fence the log. For a while, the seal
   * stops every other node from fencing the log, and from adding entries and therefore from acknowledging them.
   * Undefined while another node has the seal.
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
   * Records that the member `by` serves the log in this epoch. Entries from earlier owners are refused from then on.
   * This matters because a failover can lose the fence against an earlier owner, and the store then lets that owner
   * append. A late message about an older epoch is ignored. Its sender may be taking over the log again, and the seal
   * for that takeover must stay.
   */
  ownedSince(shard: number, epoch: number, by: string): void {
    if (epoch < this.oldestEpoch(shard)) return;
    this.owned.set(shard, epoch);
    this.unseal(shard, by);
  }

  private oldestEpoch(shard: number): number {
    return Math.max(this.owned.get(shard) ?? 0, this.kept.get(shard)?.newest.lsn.epoch ?? 0);
  }

  /** True if another node is taking over the log. */
  private isSealed(shard: number, tag: string, nowMs: number): boolean {
    const seal = this.seals.get(shard);
    return seal !== undefined && nowMs < seal.untilMs && seal.by !== tag;
  }
}
