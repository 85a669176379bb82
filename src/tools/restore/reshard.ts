import { assert, must } from '../../base/assert.js';
import { LSN_ZERO, type Lsn } from '../../ports/lsn.js';
import type { Append, EncodedEntry, Owner, Position } from '../../ports/wal.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { StoreFormats, TargetStore } from '../copy-ports.js';
import type { Frame, Frames } from '../frame.js';
import { keepTrying } from '../source-with-retry.js';
import { ToolError } from '../store-reader.js';
import { dryTarget } from './dry-target.js';
import { MovedRecords } from './moved-records.js';
import { NewShard } from './new-shard.js';
import { mustBeEmpty, type Restored, type RestoreOptions, restoreFrames } from './restore.js';
import { ShardFold } from './shard-fold.js';
import type { RestoredShard } from './shard-restore.js';
import { ForeignWriterError } from './snapshot-writer.js';

/*
 * Restores into a different number of shards. That number determines the shard of each player, so the logs cannot be
 * copied. Instead, each shard of the source is replayed into wallets, and each new shard begins with a snapshot.
 *
 *   frames ─> checked, as in every restore ┬─> a replay per shard ─> per new shard: a fence and a snapshot
 *                                          └─> archived rounds ─> new archive
 *
 *   old logs                     new log
 *   ... 3-811 | 3-812            4-977 (fence) | 5-978 (a server's) ...
 *   ... 2-975 | 2-976            ^ start and end of the snapshot
 *
 * The new logs begin like trimmed logs, with LSNs after all LSNs of the old store. Therefore they never count as
 * complete, and rounds archived later are newer than the records that were copied. The new store gets its own id, so
 * that references to the old store (acknowledged entries, cursors, followed backups) never apply to the new one.
 *
 * During the restore, memory holds all players, as on a server, and one unfinished chunk per new shard.
 */

export interface ReshardOptions extends RestoreOptions {
  /** Number of shards in the new store, which must differ from the source's. */
  readonly shards: number;
  /** Returns the given meta record with this number of shards, for a new store. */
  readonly newMeta: (meta: Buffer) => Buffer;
  /** Returns the same meta record with the ends of the source's logs, by source shard, once they are known. */
  readonly withEnds: (meta: Buffer, storeId: string, ends: readonly Position[]) => Buffer;
  readonly shardOf: (username: string, shards: number) => number;
  /** The owner to name in the fences. */
  readonly owner: Owner;
  /** Returns 16 hexadecimal digits that are different each time. */
  readonly newId: () => string;
}

/** Like `restoreFrames`, but into a different number of shards. */
export async function restoreResharded(
  frames: Frames,
  target: TargetStore,
  options: ReshardOptions,
): Promise<Restored> {
  const resharding = new Resharding(target, options);
  const { copiedMs } = await restoreFrames(resharding.watched(frames), resharding.checking, options);
  return await resharding.finish(copiedMs);
}

/** The state that exists once the meta record has arrived. */
interface Begun {
  readonly source: StoreFormats;
  readonly folds: readonly ShardFold[];
  readonly meta: Buffer;
  readonly formats: StoreFormats;
}

class Resharding {
  private begun: Begun | undefined = undefined;

  constructor(
    private readonly target: TargetStore,
    private readonly options: ReshardOptions,
  ) {}

  /** The target of the restore that checks the frames. It passes on only closed rounds. */
  get checking(): TargetStore {
    const { target } = this;
    const records = new MovedRecords((username, source) => this.place(username, source));
    return {
      ...dryTarget(false),
      createIncomplete: () => target.createIncomplete(this.mustBegun().meta),
      openArchive: async () => {
        const archive = await target.openArchive?.(this.mustBegun().formats.storeId);
        if (archive === undefined) return undefined;
        return {
          days: () => archive.days(),
          put: (put) => archive.put(put.map((record) => records.moved(record))),
          // Leave the marks unset, because the logs of the new store do not rely on any record yet.
          raiseMark: async () => {},
        };
      },
    };
  }

  /**
   * Passes the frames on unchanged. Each frame is folded only when the next one is requested, after it has been
   * checked.
   */
  async *watched(frames: Frames): AsyncGenerator<Frame, void> {
    for await (const frame of frames) {
      if (frame.type === 'meta') this.begin(frame.bytes);
      yield frame;
      if (frame.type === 'meta') await this.checkNothingIsLeft();
      else this.fold(frame);
    }
  }

  async finish(copiedMs: number): Promise<Restored> {
    const { source, folds, formats, meta } = this.mustBegun();
    for (const fold of folds) fold.checkBooks();
    const shards = await this.writeShards(folds, formats);
    const ends = folds.map(({ reached }) => reached.head);
    const complete = this.options.withEnds(meta, source.storeId, ends);
    await keepTrying('complete the store', this.options.retryPolicy, () => this.target.complete(complete));
    return { storeId: formats.storeId, copiedMs, shards };
  }

  private begin(bytes: Buffer): void {
    const { openFormats, newMeta, shards, at } = this.options;
    const source = openFormats(bytes);
    assert(source.shards !== shards, 'a store with as many shards is restored as it is');
    const folds = Array.from({ length: source.shards }, (_, shard) => new ShardFold(shard, source, at));
    const meta = newMeta(bytes);
    this.begun = { source, folds, meta, formats: openFormats(meta) };
  }

  private async checkNothingIsLeft(): Promise<void> {
    const { target, options } = this;
    for (let shard = 0; shard < options.shards; shard++) await mustBeEmpty(shard, target, options.retryPolicy);
  }

  private fold(frame: Frame): void {
    if (!('shard' in frame)) return;
    const fold = must(this.mustBegun().folds[frame.shard], 'the shard has been checked');
    switch (frame.type) {
      case 'snapshot-begun':
        fold.beginSnapshot(frame.manifest);
        return;
      case 'chunk':
        fold.addChunk(frame.bytes);
        return;
      case 'snapshot-abandoned':
        fold.abandonSnapshot();
        return;
      case 'entry':
        fold.addEntry(frame.bytes);
        return;
    }
  }

  private async writeShards(folds: readonly ShardFold[], formats: StoreFormats): Promise<readonly RestoredShard[]> {
    const { target, options } = this;
    const timeMs = Math.max(...folds.map(({ reached }) => reached.timeMs));
    const fences = this.fences(folds, formats, timeMs);
    if (fences.length === 0) return Array.from({ length: options.shards }, (_, shard) => emptyShard(shard));
    await this.append(fences);
    const shards = fences.map(({ shard, entries: [fence] }) => {
      const entry = must(fence, 'an append of a fence has one');
      return new NewShard(shard, entry, timeMs, options.newId(), formats, target, options.retryPolicy);
    });
    for (const shard of shards) await shard.begin();
    for (const { shard: source, reached } of folds) {
      for (let position = 0; position < reached.wallets.count; position++) {
        const wallet = must(reached.wallets.peekAt(position), 'every position is taken');
        await this.shardOf(wallet, source, shards).add(wallet);
      }
    }
    const written: RestoredShard[] = [];
    for (const shard of shards) written.push(await shard.publish());
    return written;
  }

  /** Creates fences with LSNs after all entries of the source. There are none if the source has no entries. */
  private fences(folds: readonly ShardFold[], formats: StoreFormats, timeMs: number): Append[] {
    const { owner, newId, shards } = this.options;
    const ends = folds.map(({ reached }) => reached.head.lsn);
    const end: Lsn = {
      epoch: Math.max(...ends.map(({ epoch }) => epoch)),
      sequence: Math.max(...ends.map(({ sequence }) => sequence)),
    };
    if (end.sequence === 0) return [];
    const lsn = { epoch: end.epoch + 1, sequence: end.sequence + 1 };
    return Array.from({ length: shards }, (_, shard): Append => {
      const expected = formats.genesis(shard);
      const header = { shard, lsn, nonce: newId(), previous: { ...expected, lsn: end }, timeMs };
      const fence: EncodedEntry = formats.format.encodeFence(header, owner);
      return { shard, expected, entries: [fence] };
    });
  }

  private async append(fences: readonly Append[]): Promise<void> {
    const outcomes = await keepTrying('write the fences', this.options.retryPolicy, async () => {
      const attempted = await this.target.append(fences);
      for (const outcome of attempted) if (outcome.type === 'failed') throw outcome.error;
      return attempted;
    });
    if (outcomes.some(({ type }) => type === 'conflict')) throw new ForeignWriterError();
  }

  private shardOf(wallet: Wallet, source: number, shards: readonly NewShard[]): NewShard {
    return must(shards[this.place(wallet.username, source)], 'a player has a shard');
  }

  /**
   * Returns the player's new shard. Throws a `ToolError` if the player is in the wrong source shard, because the right
   * shard could contain the same player.
   */
  private place(username: string, source: number): number {
    const { shards, shardOf } = this.options;
    if (shardOf(username, this.mustBegun().source.shards) !== source) {
      throw new ToolError(`shard ${source} has a player who belongs to a different shard: ${username}`);
    }
    return shardOf(username, shards);
  }

  private mustBegun(): Begun {
    return must(this.begun, 'a meta record comes first');
  }
}

function emptyShard(shard: number): RestoredShard {
  return { shard, snapshot: undefined, lsn: LSN_ZERO, timeMs: undefined, entries: 0, bytes: 0 };
}
