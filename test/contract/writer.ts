import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Append, AppendOutcome, EncodedEntry, EntryFormat, Head, Wal } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';

/** Appends to a single shard. */
export async function one(wal: Wal, append: Append): Promise<AppendOutcome> {
  const [outcome] = await wal.append([append]);
  return outcome as AppendOutcome;
}

/** An owner. Finalizes entries with its own nonce and remembers the heads it has written. */
export class Writer {
  readonly format: EntryFormat;
  nonce = randomBytes(8).toString('hex');
  private readonly heads = new Map<number, Head>();
  private readonly firsts = new Map<number, Head>();
  private epoch = 1;

  constructor(
    private readonly wal: Wal,
    storeId: string,
  ) {
    this.format = new EntryCodec(storeId);
    for (const shard of [0, 1, 2, 3]) this.firsts.set(shard, genesisHead(storeId, shard));
  }

  genesis(shard: number): Head {
    return this.firsts.get(shard) as Head;
  }

  head(shard: number): Head {
    return this.heads.get(shard) ?? this.genesis(shard);
  }

  take(shard: number, head: Head): void {
    this.heads.set(shard, head);
    this.epoch = head.lsn.epoch;
  }

  /** Continues as a different owner. */
  newEpoch(): void {
    this.epoch++;
    this.nonce = randomBytes(8).toString('hex');
  }

  /** Takes over a log as a different owner. */
  async fence(shard: number): Promise<void> {
    await this.wal.fence([shard], (_, head) => {
      this.take(shard, head);
      this.newEpoch();
      const fence = this.seal(shard, head);
      this.heads.set(shard, fence.head);
      return fence;
    });
  }

  seal(shard: number, previous: Head, text = 'ann'): EncodedEntry {
    const batch = this.format.beginBatch(1000);
    batch.add({ type: 'player-created', username: text, version: 1, timeMs: 1000, currency: 'THB' });
    const lsn = { epoch: this.epoch, sequence: previous.lsn.sequence + 1 };
    return batch.seal({ shard, lsn, nonce: this.nonce, previous });
  }

  next(shard: number): EncodedEntry {
    return this.seal(shard, this.head(shard));
  }

  async append(shard: number, text?: string): Promise<EncodedEntry> {
    const entry = this.seal(shard, this.head(shard), text);
    assert.deepEqual(await one(this.wal, { shard, expected: this.head(shard), entries: [entry] }), { type: 'ok' });
    this.heads.set(shard, entry.head);
    return entry;
  }
}
