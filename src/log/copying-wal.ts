import type { Append, AppendOutcome, Wal } from '../ports/wal.js';
import type { Copy, PutCopies } from './copies.js';
import type { RecentEntries } from './recent-entries.js';

const NOT_HELD: AppendOutcome = {
  type: 'failed',
  error: new Error('no other node has a copy of the written entries, and answers wait for one (durability peers:1)'),
};

/**
 * A log whose newest entries count as durable only once another node also holds them, because a store may lose them in
 * a failover. Entries go to the other node first, which refuses them if this node is no longer the owner. The store
 * alone would accept a former owner's entries if a failover had lost the new owner's fence.
 */
export class CopyingWal implements Pick<Wal, 'append' | 'appendQueueOf'> {
  constructor(
    private readonly wal: Pick<Wal, 'append' | 'appendQueueOf'>,
    private readonly put: PutCopies,
    /** The kept entries of a shard that this node serves. */
    private readonly recentOf: (shard: number) => RecentEntries | undefined,
  ) {}

  appendQueueOf(shard: number): number {
    return this.wal.appendQueueOf(shard);
  }

  /**
   * Writes only entries that another node holds. Other entries must not be written, because a new owner may have
   * acknowledged different ones in their place. Their append still compares the log's head, so that a newer owner is
   * detected.
   */
  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    const held = await this.held(appends);
    const outcomes = await this.wal.append(appends.map((one, i) => (held[i] ? one : { ...one, entries: [] })));
    return outcomes.map((outcome, i) => {
      const isNewer = outcome.type === 'conflict' && outcome.head.lsn.epoch > (appends[i] as Append).expected.lsn.epoch;
      return held[i] || isNewer ? outcome : NOT_HELD;
    });
  }

  private async held(appends: readonly Append[]): Promise<readonly boolean[]> {
    const outcomes = await this.put(
      appends.map(({ shard, expected, entries }) => ({ shard, base: expected, entries, isWhole: false })),
    );
    const held: boolean[] = [];
    for (const [i, append] of appends.entries()) {
      // Send full copies one at a time, because they are long.
      const outcome = outcomes[i] === 'gap' ? (await this.put([this.whole(append)]))[0] : outcomes[i];
      held.push(outcome === 'held');
    }
    return held;
  }

  private whole({ shard, expected, entries }: Append): Copy {
    const recent = this.recentOf(shard);
    if (recent === undefined) return { shard, base: expected, entries, isWhole: true };
    const { base, newest } = recent;
    const added = entries.filter(({ head }) => head.lsn.sequence > newest.lsn.sequence);
    return { shard, base, entries: [...recent.all(), ...added], isWhole: true };
  }
}
