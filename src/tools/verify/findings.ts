/**
 * Kinds of findings.
 *
 *   log        an entry that is damaged, missing or foreign, or a head that does not match the last entry
 *   snapshot   a damaged manifest or chunk, or wallets that differ from those of the log
 *   event      an event that does not fit its wallet
 *   wallet     a wallet that contradicts itself
 *   books      sums that do not balance
 *   archive    an archived round that is damaged or impossible, or a round that is missing from the archive
 *   audit      operator actions that do not match the audit chain of a snapshot or the noted head
 *   server     a player whose state on the running server differs
 */
export type FindingType = 'log' | 'snapshot' | 'event' | 'wallet' | 'books' | 'archive' | 'audit' | 'server';

export interface Finding {
  readonly type: FindingType;
  /** A human-readable sentence that names the shard. */
  readonly message: string;
}

const LISTED_MAX = 20;

/** Collects findings. The first findings of each type are listed in full, and the rest are counted. */
export class Findings {
  readonly listed: Finding[] = [];
  private readonly counts = new Map<FindingType, number>();

  add(type: FindingType, message: string): void {
    const count = this.count(type) + 1;
    this.counts.set(type, count);
    if (count <= LISTED_MAX) this.listed.push({ type, message });
  }

  count(type: FindingType): number {
    return this.counts.get(type) ?? 0;
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Number of findings of each type, whether or not they are listed. */
  all(): Partial<Record<FindingType, number>> {
    return Object.fromEntries(this.counts);
  }

  addAll(others: Findings): void {
    for (const [type, count] of others.counts) {
      const room = LISTED_MAX - this.count(type);
      this.listed.push(...others.listed.filter((one) => one.type === type).slice(0, Math.max(0, room)));
      this.counts.set(type, this.count(type) + count);
    }
  }
}
