import { AssertionFailure, must } from '../../base/assert.js';
import { atOnce } from '../../base/steps.js';
import { decodeEntry } from '../../log/log-reader.js';
import { Replay } from '../../log/replay.js';
import { checkEnds } from '../../log/snapshot-ends.js';
import { formatLsn } from '../../ports/lsn.js';
import type { Manifest, SnapshotWallets } from '../../ports/snapshot-store.js';
import { checkWallet } from '../../wallet/invariants.js';
import type { StoreFormats } from '../copy-ports.js';
import { type At, isPast } from '../point-in-time.js';
import { ToolError } from '../store-reader.js';

/** Builds the wallets of one shard from its frames, whose order has already been checked. */
export class ShardFold {
  private replay: Replay;
  /** The snapshot whose chunks are arriving. */
  private reading: { readonly manifest: Manifest; readonly wallets: SnapshotWallets } | undefined = undefined;
  private isPast = false;

  constructor(
    readonly shard: number,
    private readonly formats: StoreFormats,
    private readonly at: At | undefined,
  ) {
    this.replay = Replay.ofNothing(formats.genesis(shard));
  }

  get reached(): Pick<Replay, 'wallets' | 'head' | 'timeMs'> {
    return this.replay;
  }

  beginSnapshot(bytes: Buffer): void {
    const { snapshotFormat } = this.formats;
    const manifest = snapshotFormat.openManifest(bytes);
    this.reading = { manifest, wallets: snapshotFormat.beginReading(manifest) };
  }

  addChunk(bytes: Buffer): void {
    atOnce(must(this.reading, 'a snapshot has begun').wallets.addChunk(bytes));
  }

  abandonSnapshot(): void {
    this.reading = undefined;
  }

  addEntry(bytes: Buffer): void {
    if (this.isPast) return;
    const entry = decodeEntry(bytes, this.shard, this.formats.format);
    this.isPast = isPast(this.at, entry);
    if (this.isPast) return;
    if (this.reading !== undefined) {
      // This entry is at the start of the snapshot, so the snapshot already contains its events.
      this.replay = Replay.ofWallets(this.reading.manifest, this.reading.wallets.finish());
      this.reading = undefined;
      return;
    }
    const { replay } = this;
    if (replay.manifest !== undefined) checkEnds([replay.manifest.end], entry);
    try {
      replay.take({ entry, bytes });
    } catch (error) {
      if (!(error instanceof AssertionFailure)) throw error;
      throw new ToolError(`entry ${formatLsn(entry.lsn)} of shard ${this.shard} cannot be applied: ${error.message}`);
    }
    for (const _event of entry.events) replay.wallets.hibernateNext();
  }

  /**
   * Throws a `ToolError` if a player's books do not add up. Hibernated wallets were already checked when they were
   * packed.
   */
  checkBooks(): void {
    for (const wallet of this.replay.wallets.unpacked()) {
      try {
        checkWallet(wallet);
      } catch (error) {
        throw new ToolError(`the books of ${wallet.username} do not add up: ${(error as Error).message}`);
      }
    }
  }
}
