import { must } from '../../base/assert.js';
import { checkContinuity, checkNoLoss, decodeEntry, newestTimeOf } from '../../log/log-reader.js';
import { openReplay, Replay } from '../../log/replay.js';
import { formatLsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import { type Entry, type Head, isSameHead } from '../../ports/wal.js';
import type { AuditHead } from '../../wallet/audit-chain.js';
import type { Coverage, ShardCoverage } from '../coverage.js';
import type { Frame, Frames } from '../frame.js';
import type { StoreReader } from '../store-reader.js';
import { ToolError } from '../store-reader.js';
import { ArchiveCheck } from './archive-check.js';
import { StoreBooks } from './books.js';
import { CheckedReplay } from './checked-replay.js';
import { Findings } from './findings.js';
import { marksOf, type ShardReport, type VerifyReport } from './verify.js';

/** Formats and functions needed to verify frames: a store without its data. */
export type FrameFormats = Pick<
  StoreReader,
  'storeId' | 'shards' | 'scales' | 'format' | 'snapshotFormat' | 'genesis' | 'shardOf' | 'yieldTurn'
>;

export interface VerifiedFrames extends VerifyReport {
  readonly formats: FrameFormats;
  /** The time of the copy in ms, by the clock of the machine that made it. */
  readonly copiedMs: number;
  /** The time of the newest event, in milliseconds; undefined if there are no entries. */
  readonly newestMs: number | undefined;
}

/**
 * Verifies a backup in one pass: every snapshot and entry, a replay of each shard, and its wallets and books. Needs as
 * much memory as a server on the restored store. Throws a `ToolError` if the frames are out of order.
 */
export async function verifyFrames(
  frames: Frames,
  openFormats: (meta: Buffer) => FrameFormats,
  noted?: ReadonlyMap<number, AuditHead>,
): Promise<VerifiedFrames> {
  let verification: FramesVerification | undefined;
  for await (const frame of frames) {
    if (frame.type === 'meta') verification = new FramesVerification(openFormats(frame.bytes), noted);
    else await must(verification, 'a meta record comes first').take(frame);
  }
  return await must(verification, 'a meta record comes first').finish();
}

class FramesVerification {
  private readonly shards: readonly ShardFrames[];
  private coverage: Coverage | undefined = undefined;

  constructor(
    private readonly formats: FrameFormats,
    noted: ReadonlyMap<number, AuditHead> | undefined,
  ) {
    this.shards = Array.from(
      { length: formats.shards },
      (_, shard) => new ShardFrames(shard, formats, noted?.get(shard)),
    );
  }

  async take(frame: Exclude<Frame, { type: 'meta' }>): Promise<void> {
    if (frame.type === 'end') {
      this.coverage = frame.coverage;
      return;
    }
    const number = frame.type === 'archived' ? frame.record.shard : frame.shard;
    const shard = this.shards[number];
    if (shard === undefined) throw new ToolError(`there is data of shard ${number}, but the store has no such shard`);
    await shard.take(frame);
  }

  async finish(): Promise<VerifiedFrames> {
    const { shards, formats } = this;
    const coverage = must(this.coverage, 'an end comes last');
    const findings = new Findings();
    const books = new StoreBooks();
    const reports: ShardReport[] = [];
    for (const shard of shards) {
      reports.push(await shard.finish(must(coverage.shards[shard.shard], 'an end tells of all shards')));
      findings.addAll(shard.findings);
      books.addAll(shard.books);
    }
    const times = shards.flatMap(({ newestMs }) => newestMs ?? []);
    const newestMs = times.length === 0 ? undefined : Math.max(...times);
    return { formats, shards: reports, books, findings, copiedMs: coverage.timeMs, newestMs };
  }
}

class ShardFrames {
  readonly findings = new Findings();
  /** The time of the newest entry, in ms. */
  newestMs: number | undefined = undefined;
  private manifest: Manifest | undefined = undefined;
  private chunks: Buffer[] = [];
  private replay: CheckedReplay | undefined = undefined;
  private first: Entry | undefined = undefined;
  private last: Head;
  private entries = 0;
  private events = 0;
  /** True after a fault: the data that follows it can no longer be proved. */
  private isBroken = false;
  private readonly archive: ArchiveCheck;
  private oldestDay = Number.POSITIVE_INFINITY;

  constructor(
    readonly shard: number,
    private readonly formats: FrameFormats,
    private readonly noted: AuditHead | undefined,
  ) {
    this.last = formats.genesis(shard);
    this.archive = new ArchiveCheck(shard, formats, this.findings);
  }

  get books(): StoreBooks {
    return this.replay?.books ?? new StoreBooks();
  }

  async take(frame: Exclude<Frame, { type: 'meta' | 'end' }>): Promise<void> {
    if (this.isBroken) return;
    switch (frame.type) {
      case 'snapshot-begun':
        return this.begin(frame.manifest);
      case 'chunk':
        this.chunks.push(frame.bytes);
        return;
      case 'snapshot-abandoned':
        this.manifest = undefined;
        this.chunks = [];
        return;
      case 'entry':
        return await this.takeEntry(frame.bytes);
      case 'archived':
        this.oldestDay = Math.min(this.oldestDay, frame.record.day);
        return this.archive.check(frame.record);
    }
  }

  async finish({ head, archived }: ShardCoverage): Promise<ShardReport> {
    const { shard, first, last, entries, events, manifest, replay } = this;
    if (!this.isBroken && !isSameHead(last, head)) {
      this.break('log', `shard ${shard} ends at ${formatLsn(last.lsn)}, but should reach ${formatLsn(head.lsn)}`);
    }
    if (replay !== undefined && !replay.isBroken) {
      await replay.finish(!this.isBroken);
      // The mark is undefined in copies made by older releases.
      if (archived !== undefined) this.archive.checkMark(archived);
      if (!this.isBroken) this.archive.compare(this.oldestDay === Number.POSITIVE_INFINITY ? 0 : this.oldestDay);
    }
    return {
      shard,
      first: first && formatLsn(first.lsn),
      lsn: formatLsn(last.lsn),
      entries,
      events,
      players: replay?.wallets.count ?? 0,
      snapshots: manifest === undefined ? 0 : 1,
      base: replay === undefined ? undefined : (manifest?.id ?? 'genesis'),
      compared: undefined,
      movedOn: undefined,
      accepted: this.archive.accepted,
      archived: this.archive.rounds,
      ...marksOf(this.archive),
      audit: replay?.audit.head,
    };
  }

  private begin(bytes: Buffer): void {
    this.chunks = [];
    try {
      this.manifest = this.formats.snapshotFormat.openManifest(bytes);
    } catch (error) {
      this.break('snapshot', `shard ${this.shard}: ${(error as Error).message}`);
    }
  }

  private async takeEntry(bytes: Buffer): Promise<void> {
    const { shard, formats } = this;
    try {
      const entry = decodeEntry(bytes, shard, formats.format);
      if (this.replay === undefined) await this.beginReplay(entry);
      else this.follow(entry);
      this.first ??= entry;
      this.last = entry.head;
      this.newestMs = newestTimeOf(entry);
      this.entries++;
      this.events += entry.events.length;
      this.replay?.take(entry);
    } catch (error) {
      if (!(error instanceof RecoveryError)) throw error;
      this.break('log', error.message);
    }
  }

  /**
   * The first entry is either the one at the start of the snapshot, which already contains its events, or the first
   * entry of the log.
   */
  private async beginReplay(first: Entry): Promise<void> {
    const { shard, formats, manifest } = this;
    const replay =
      manifest === undefined ? Replay.ofNothing(formats.genesis(shard)) : await this.openSnapshot(manifest);
    if (replay === undefined) return;
    this.replay = new CheckedReplay(replay, shard, formats, undefined, this.findings, this.archive, this.noted);
    await this.replay.begin();
    if (manifest === undefined) {
      this.follow(first);
    } else if (!isSameHead(first.head, manifest.start)) {
      throw new RecoveryError(
        `snapshot ${manifest.id} of shard ${shard} does not begin at the same position as the log`,
      );
    }
  }

  private async openSnapshot(manifest: Manifest): Promise<Replay | undefined> {
    const { chunks, formats } = this;
    const readChunks = async (_shard: number, _id: string, first: number, count: number) =>
      Array.from({ length: count }, (_, i) => chunks[first + i]);
    const opened = await openReplay(manifest, { ...formats, snapshots: { readChunks } });
    this.chunks = [];
    if (opened instanceof Replay) return opened;
    this.break('snapshot', opened.message);
    return undefined;
  }

  private follow(entry: Entry): void {
    checkContinuity(entry, this.shard, this.last);
    checkNoLoss(entry);
  }

  private break(type: 'log' | 'snapshot', message: string): void {
    this.findings.add(type, message);
    this.isBroken = true;
  }
}
