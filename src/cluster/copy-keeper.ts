import type { Copy, CopyOutcome } from '../shard/log/copies.js';
import { RecentEntries } from '../shard/log/recent-entries.js';
import type { SealedEntry } from '../shard/log/wal.js';

/** By then whoever asks has fenced the log, or asks again. */
const SEALED_MS = 2000;

interface Seal {
  readonly epoch: number;
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

  /** `none`: it is of an owner from whom another one is taking the log, or has taken it. */
  put({ shard, base, entries, isWhole }: Copy, nowMs: number): CopyOutcome {
    const kept = this.kept.get(shard);
    const newest = entries.at(-1)?.head ?? base;
    if (newest.lsn.epoch < this.oldestEpoch(shard, kept, nowMs)) return 'none';
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
   * What is here of the log behind `sequence`, for who is about to fence it with this epoch or a later one: for a while
   * no owner before that can add anything, and so tell nothing.
   */
  seal(shard: number, epoch: number, sequence: number, nowMs: number): readonly SealedEntry[] {
    const sealed = this.seals.get(shard)?.epoch ?? 0;
    this.seals.set(shard, { epoch: Math.max(sealed, epoch), untilMs: nowMs + SEALED_MS });
    return (
      this.kept
        .get(shard)
        ?.all()
        .filter(({ head }) => head.lsn.sequence > sequence) ?? []
    );
  }

  /**
   * The log is served in this epoch: what an owner before that brings is refused for good. A failover can lose the fence
   * that stands against him, and the store lets him append then.
   */
  ownedSince(shard: number, epoch: number): void {
    this.owned.set(shard, Math.max(epoch, this.owned.get(shard) ?? 0));
  }

  private oldestEpoch(shard: number, kept: RecentEntries | undefined, nowMs: number): number {
    const seal = this.seals.get(shard);
    if (seal !== undefined && nowMs >= seal.untilMs) this.seals.delete(shard);
    const sealed = this.seals.get(shard)?.epoch ?? 0;
    return Math.max(sealed, this.owned.get(shard) ?? 0, kept?.newest.lsn.epoch ?? 0);
  }
}
