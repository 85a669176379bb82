import { must } from '../../base/assert.js';
import type { Archive, ArchiveRecord } from '../../ports/archive.js';
import { mustReach } from '../../ports/archive-behind-error.js';
import { LSN_ZERO } from '../../ports/lsn.js';
import type { RetryPolicy } from '../../ports/retry-policy.js';
import type { OpenFormats, StoreFormats, TargetStore } from '../copy-ports.js';
import type { Coverage } from '../coverage.js';
import type { Frame, Frames } from '../frame.js';
import type { At } from '../point-in-time.js';
import { keepTrying } from '../source-with-retry.js';
import { ToolError } from '../store-reader.js';
import { type RestoredShard, ShardRestore } from './shard-restore.js';
import { ForeignWriterError } from './snapshot-writer.js';

/*
 * A restore writes the frames of a store or backup file into an empty store, one shard after another. shard-restore.ts
 * writes the entries, and snapshot-restore.ts the snapshot before them. Until the last step the store is marked as
 * unfinished, so that no server starts on it. reshard.ts restores into a different number of shards.
 */

export interface Restored {
  readonly storeId: string;
  /** The time in ms at which the copy was complete, by the clock of the machine that made it. */
  readonly copiedMs: number;
  readonly shards: readonly RestoredShard[];
}

export interface RestoreOptions {
  readonly openFormats: OpenFormats;
  readonly at?: At | undefined;
  readonly retryPolicy: RetryPolicy;
}

const APPEND_BYTES = 1024 * 1024;
const PUT_ROUNDS = 500;

/**
 * Writes frames into an empty store, which becomes ready to serve only in the last step. All data is checked before it
 * is written. Throws a `ToolError`, a `RecoveryError` or a `FormatError` if a check fails. The target must then be
 * emptied.
 */
export async function restoreFrames(frames: Frames, target: TargetStore, options: RestoreOptions): Promise<Restored> {
  let restore: Restore | undefined;
  for await (const frame of frames) {
    if (frame.type === 'meta') restore = await Restore.begin(frame.bytes, target, options);
    else await must(restore, 'a meta record comes first').take(frame);
  }
  return await must(restore, 'a meta record comes first').finish();
}

class Restore {
  private readonly shards: readonly ShardRestore[];
  /** Bytes of the entries that have been checked but not yet appended. */
  private waitingBytes = 0;
  private coverage: Coverage | undefined = undefined;
  /** Rounds that have not yet been put into the archive. */
  private archived: ArchiveRecord[] = [];

  private constructor(
    private readonly meta: Buffer,
    private readonly target: TargetStore,
    private readonly targetArchive: Pick<Archive, 'put' | 'raiseMark'> | undefined,
    private readonly formats: StoreFormats,
    at: At | undefined,
    private readonly retryPolicy: RetryPolicy,
  ) {
    this.shards = Array.from(
      { length: formats.shards },
      (_, shard) => new ShardRestore(shard, target, formats, at, retryPolicy),
    );
  }

  static async begin(
    meta: Buffer,
    target: TargetStore,
    { openFormats, at, retryPolicy }: RestoreOptions,
  ): Promise<Restore> {
    const formats = openFormats(meta);
    checkCreated(at, formats.createdMs);
    const wasCreated = await keepTrying('create the store', retryPolicy, () => target.createIncomplete(meta));
    if (!wasCreated) throw new ToolError('a restore requires an empty store');
    for (let shard = 0; shard < formats.shards; shard++) await mustBeEmpty(shard, target, retryPolicy);
    const archive = await target.openArchive?.(formats.storeId);
    const days = archive && (await keepTrying('look into the archive', retryPolicy, () => archive.days()));
    if (days !== undefined && days.length > 0) {
      throw new ToolError('a restore also requires an empty archive: set WALLETD_ARCHIVE to a new database');
    }
    return new Restore(meta, target, archive, formats, at, retryPolicy);
  }

  async take(frame: Exclude<Frame, { type: 'meta' }>): Promise<void> {
    if (frame.type === 'end') {
      this.coverage = frame.coverage;
      return;
    }
    const number = frame.type === 'archived' ? frame.record.shard : frame.shard;
    const shard = this.shards[number];
    if (shard === undefined) throw new ToolError(`there is data of shard ${number}, but the store has no such shard`);
    switch (frame.type) {
      case 'snapshot-begun':
        return await shard.beginSnapshot(frame.manifest);
      case 'chunk':
        return await shard.writeChunk(frame.index, frame.bytes);
      case 'snapshot-abandoned':
        return await shard.abandonSnapshot();
      case 'entry':
        this.waitingBytes += await shard.addEntry(frame.bytes);
        if (this.waitingBytes >= APPEND_BYTES) await this.append();
        return;
      case 'archived':
        return await this.archive(shard, frame.record);
    }
  }

  async finish(): Promise<Restored> {
    await this.append();
    await this.putArchived();
    const coverage = must(this.coverage, 'an end comes last');
    for (const shard of this.shards) {
      const { head, archived } = must(coverage.shards[shard.shard], 'an end tells of all shards');
      shard.checkEnd(head);
      // The mark is undefined in copies made by older releases.
      if (archived !== undefined) mustReach(shard.shard, archived, shard.required);
    }
    await this.raiseMarks();
    await keepTrying('complete the store', this.retryPolicy, () => this.target.complete(this.meta));
    const shards = this.shards.map((shard) => shard.summary());
    return { storeId: this.formats.storeId, copiedMs: coverage.timeMs, shards };
  }

  /**
   * Raises the archive's marks to those of the logs. The newest record on which a log relies may be missing from a
   * backup, because its round has returned to memory since or is too old.
   */
  private async raiseMarks(): Promise<void> {
    const { targetArchive } = this;
    if (targetArchive === undefined) return;
    for (const { shard, required } of this.shards) {
      if (required === undefined) continue;
      await keepTrying('write to the archive', this.retryPolicy, () => targetArchive.raiseMark(shard, required));
    }
  }

  /**
   * Skips records that were archived after the shard's restore point, because the restored store does not contain
   * anything after that point.
   */
  private async archive(shard: ShardRestore, record: ArchiveRecord): Promise<void> {
    if (!shard.reaches(record.lsn)) return;
    this.archived.push(record);
    if (this.archived.length >= PUT_ROUNDS) await this.putArchived();
  }

  private async putArchived(): Promise<void> {
    const records = this.archived;
    this.archived = [];
    if (records.length === 0) return;
    const { targetArchive } = this;
    // Set `remembers`, because any record may contain remembered messages. This has no disadvantage, because only
    // current releases can read the new store's snapshots anyway.
    const puts = records.map((record) => ({ ...record, remembers: true }));
    if (targetArchive === undefined) {
      throw new ToolError(
        'closed rounds of this store are in an archive, but the new store has no archive: set WALLETD_ARCHIVE',
      );
    }
    await keepTrying('write to the archive', this.retryPolicy, () => targetArchive.put(puts));
  }

  private async append(): Promise<void> {
    const busy = this.shards.filter((shard) => shard.hasWaiting);
    this.waitingBytes = 0;
    if (busy.length === 0) return;
    const appends = busy.map((shard) => shard.waitingAppend());
    const outcomes = await keepTrying('append to the log', this.retryPolicy, async () => {
      const attempted = await this.target.append(appends);
      for (const outcome of attempted) if (outcome.type === 'failed') throw outcome.error;
      return attempted;
    });
    if (outcomes.some(({ type }) => type === 'conflict')) throw new ForeignWriterError();
    for (const shard of busy) shard.appended();
  }
}

/**
 * Refuses a time before the creation of the store, because the restored casino would have no players. Such a time was
 * often given in seconds instead of milliseconds.
 */
function checkCreated(at: At | undefined, createdMs: number): void {
  if (at?.type !== 'time' || at.timeMs >= createdMs) return;
  const [wanted, created] = [at.timeMs, createdMs].map((ms) => new Date(ms).toISOString());
  throw new ToolError(`there was no store at ${wanted}: the store was created at ${created}`);
}

/**
 * Throws unless the log is empty. Otherwise, the remains of a store that was emptied by hand would become part of the
 * new store.
 */
export async function mustBeEmpty(shard: number, target: TargetStore, retryPolicy: RetryPolicy): Promise<void> {
  const entries = await keepTrying('read the log', retryPolicy, () => target.read(shard, LSN_ZERO, 1));
  const snapshots = await keepTrying('list the snapshots', retryPolicy, () => target.snapshots(shard));
  if (entries.length === 0 && snapshots.length === 0) return;
  const what = entries.length > 0 ? 'a log' : 'snapshots';
  throw new ToolError(
    `a restore requires an empty store, and this one still has ${what} of shard ${shard}: empty it completely`,
  );
}
