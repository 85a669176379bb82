import type { Lsn } from '../../src/ports/lsn.js';
import { compareLsn } from '../../src/ports/lsn.js';
import type { SnapshotStore, StoredSnapshot } from '../../src/ports/snapshot-store.js';
import {
  type Append,
  type AppendOutcome,
  appendOf,
  type Head,
  isSameHead,
  type MakeFence,
  type Takeover,
  type Wal,
} from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { MemorySnapshots } from './memory-snapshots.js';
import { OwnersSnapshots } from './owners-snapshots.js';

/** Behavior of the store for the next writes. */
export type FaultMode =
  | 'fine'
  /** The write fails and the store reports the failure. */
  | 'not-written'
  /** The write succeeds, but the answer is lost. */
  | 'answer-lost';

/**
 * An in-memory store whose fault mode and speed are controlled by the test. It passes the same contracts as the
 * drivers.
 */
export class MemoryWal extends OwnersSnapshots implements Wal, SnapshotStore {
  faultMode: FaultMode = 'fine';
  /** Promise that appends wait for. It is pending while the store is held, and `release` resolves it. */
  private gate: Promise<void> = Promise.resolve();
  private openGate: () => void = () => {};
  private readonly heads = new Map<number, Head>();
  private readonly logs = new Map<number, { lsn: Lsn; bytes: Buffer }[]>();
  private readonly stored = new Map<number, MemorySnapshots>();
  private readonly codec: EntryCodec;
  calls: (readonly Append[])[] = [];

  constructor(
    readonly storeId: string,
    shards: number,
  ) {
    super();
    this.codec = new EntryCodec(storeId);
    for (let shard = 0; shard < shards; shard++) {
      this.heads.set(shard, genesisHead(storeId, shard));
      this.logs.set(shard, []);
      this.stored.set(shard, new MemorySnapshots());
    }
  }

  appendQueueOf(): number {
    return 0;
  }

  hold(): void {
    this.gate = new Promise((resolve) => {
      this.openGate = resolve;
    });
  }

  release(): void {
    this.openGate();
  }

  /** Appends a foreign entry at the head, as a different process would. */
  intrude(shard: number, append: Append): void {
    const [outcome] = this.write([{ ...append, shard }]);
    if (outcome?.type !== 'ok') throw new Error('the intruder was refused');
  }

  /** Loses a shard's newest entries, like a failover to a lagging replica. */
  loseTail(shard: number, count: number): void {
    const log = this.logs.get(shard) ?? [];
    log.splice(log.length - count, count);
    const newest = log.at(-1);
    const head = newest === undefined ? genesisHead(this.storeId, shard) : this.codec.decode(newest.bytes).head;
    this.heads.set(shard, head);
  }

  /** Flips a bit of the entry with this sequence number. */
  damage(shard: number, sequence: number): void {
    const entry = this.logs.get(shard)?.find(({ bytes }) => this.codec.tryLsn(bytes)?.sequence === sequence);
    if (entry === undefined) throw new Error(`no entry ${sequence}`);
    entry.bytes.writeUInt8(entry.bytes.readUInt8(80) ^ 1, 80);
  }

  async append(appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    this.calls.push(appends);
    await this.gate;
    if (this.faultMode === 'not-written') return appends.map(() => failed('the store is away'));
    const outcomes = this.write(appends);
    if (this.faultMode === 'answer-lost') return appends.map(() => failed('the answer got lost'));
    return outcomes;
  }

  async fence(shards: readonly number[], makeFence: MakeFence): Promise<readonly Takeover[]> {
    await this.gate;
    if (this.faultMode === 'not-written') throw new Error('the store is away');
    const fences = shards.map((shard) => {
      const previous = this.heads.get(shard) as Head;
      return { shard, previous, entry: makeFence(shard, previous, this.logs.get(shard)?.at(-1)?.bytes) };
    });
    this.write(fences.map(appendOf));
    if (this.faultMode === 'answer-lost') throw new Error('the answer got lost');
    return fences;
  }

  async head(shard: number): Promise<Head> {
    const head = this.heads.get(shard);
    if (head === undefined) throw new Error(`no shard ${shard}`);
    return head;
  }

  async read(shard: number, after: Lsn, limit: number): Promise<readonly Buffer[]> {
    const log = this.logs.get(shard) ?? [];
    return log
      .filter((entry) => compareLsn(entry.lsn, after) > 0)
      .slice(0, limit)
      .map((entry) => entry.bytes);
  }

  async snapshots(shard: number): Promise<readonly StoredSnapshot[]> {
    return this.snapshotsOf(shard).list();
  }

  async readChunks(shard: number, id: string, first: number, count: number): Promise<readonly (Buffer | undefined)[]> {
    return Array.from({ length: count }, (_, i) => this.snapshotsOf(shard).chunk(id, first + i));
  }

  trimLog(shard: number, nonce: string, kept: readonly StoredSnapshot[], before: Lsn): Promise<boolean> {
    return this.writeAs(shard, nonce, kept, () => {
      const log = this.logs.get(shard) ?? [];
      const first = log.findIndex(({ lsn }, i) => lsn.sequence >= before.sequence || i === log.length - 1);
      log.splice(0, Math.max(first, 0));
      return true;
    });
  }

  /** A shard's snapshots, for tests that damage them. */
  snapshotsOf(shard: number): MemorySnapshots {
    const snapshots = this.stored.get(shard);
    if (snapshots === undefined) throw new Error(`no shard ${shard}`);
    return snapshots;
  }

  entries(shard: number) {
    return (this.logs.get(shard) ?? []).map((entry) => this.codec.decode(entry.bytes));
  }

  protected async writeAs(
    shard: number,
    nonce: string,
    kept: readonly StoredSnapshot[],
    run: (snapshots: MemorySnapshots) => boolean,
  ): Promise<boolean> {
    if (this.faultMode === 'not-written') throw new Error('the store is away');
    const snapshots = this.snapshotsOf(shard);
    const isAllowed = this.heads.get(shard)?.nonce === nonce && snapshots.hasAll(kept);
    const isDone = isAllowed && run(snapshots);
    if (this.faultMode === 'answer-lost') throw new Error('the answer got lost');
    return isDone;
  }

  private write(appends: readonly Append[]): AppendOutcome[] {
    return appends.map(({ shard, expected, entries }) => {
      const head = this.heads.get(shard) as Head;
      const newest = entries.at(-1);
      if (newest !== undefined && isSameHead(head, newest.head)) return { type: 'duplicate' };
      if (!isSameHead(head, expected)) return { type: 'conflict', head };
      for (const entry of entries) {
        this.heads.set(shard, entry.head);
        this.logs.get(shard)?.push({ lsn: entry.head.lsn, bytes: Buffer.from(entry.bytes) });
      }
      return { type: 'ok' };
    });
  }
}

function failed(message: string): AppendOutcome {
  return { type: 'failed', error: new Error(message) };
}
