import { access, constants, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '../base/time.js';
import { checkArchiveIdentity } from '../node/boot/examine-archive.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { ArchiveBehindError } from '../ports/archive-behind-error.js';
import { FormatError } from '../store/format/format-error.js';
import { openFormats } from '../store/format/store-formats.js';
import { encodeMeta, withArchive } from '../store/meta.js';
import { checkBackup } from '../tools/backup/backup-reader.js';
import { BackupWriter, type ChangeSink, exists, writeNewBackup, writeToPipe } from '../tools/backup/backup-writer.js';
import { pipeSink, transformingSink } from '../tools/backup/byte-sink.js';
import { framesAfter } from '../tools/backup/follow.js';
import { FrameCounts } from '../tools/backup/frame-counts.js';
import { OtherArchiveError } from '../tools/backup/other-archive.js';
import { backupNameAt, backupsIn, isDue, type Rotation } from '../tools/backup/rotation.js';
import { framesOfStore } from '../tools/backup/store-frames.js';
import type { Coverage } from '../tools/coverage.js';
import type { Frame } from '../tools/frame.js';
import { sourceWithRetry } from '../tools/source-with-retry.js';
import { ToolError } from '../tools/store-reader.js';
import { PIPE } from './backup-input.js';
import { BackupWatch, type WatchOptions } from './backup-watch.js';
import { type OutputOptions, print, type Report } from './command.js';
import { FinishedBackups } from './finished-backups.js';
import { type CopiedShard, copyJson, copyTable } from './print/copied-shards.js';
import { formatBytes, isoTime, plural } from './print/format.js';
import { Progress } from './print/progress.js';
import { stopSignal } from './stop-signal.js';
import type { ReadStore } from './with-store.js';

export interface BackupRunOptions extends OutputOptions, WatchOptions {
  readonly to: string;
  readonly follow?: true;
  readonly rotate?: Rotation;
  readonly recipient?: readonly string[];
  /** Shell command to run for each finished file. */
  readonly then?: string;
  readonly keep?: number;
}

interface Begun {
  readonly writer: BackupWriter;
  readonly coverage: Coverage;
  readonly beginsMs: number;
}

/** One run of `walletd backup`. */
export class BackupRun {
  /** True once the file exists and its last segment is complete. */
  private isThere = false;
  private segments = 0;
  private entries = 0;
  private bytes = 0;
  private readonly finished: FinishedBackups;
  private readonly watch: BackupWatch | undefined;
  private readonly signal = stopSignal(() => {
    if (this.isThere) return EXIT.ok;
    console.error('walletd: interrupted while the store did not answer: nothing was saved');
    return EXIT.failure;
  });

  constructor(
    private readonly source: ReadStore,
    private readonly options: BackupRunOptions,
  ) {
    const { warn } = source.progress;
    this.finished = new FinishedBackups({ command: options.then, keep: options.keep }, warn);
    this.watch = options.follow && new BackupWatch(options, warn, () => this.finished.failures);
  }

  async run(): Promise<void> {
    const { to, follow, rotate } = this.options;
    try {
      if (to === PIPE) await this.intoPipe();
      else if (rotate !== undefined) await this.intoFolder(rotate);
      else if (follow) await this.intoFile(to);
      else this.finished.add(await this.once(to));
    } catch (error) {
      const isBehind = error instanceof ArchiveBehindError;
      if (isBehind && !follow)
        throw new ToolError(`${error.message}: a copy would lack the rounds of those records; see docs/archive.md`);
      if (!(error instanceof OtherArchiveError || isBehind)) throw error;
      this.watch?.archiveDiffers();
      throw new OtherArchiveError(
        `${error.message}: walletd uses a different archive from this follower's WALLETD_ARCHIVE, or its archive has lost ` +
          'rounds; name the archive that walletd uses, and begin a new backup in another file',
      );
    } finally {
      await this.watch?.end();
    }
    const left = await this.finished.end();
    if (left.length > 0) throw new ToolError(`not handed over: ${left.join(', ')}`);
  }

  private async intoPipe(): Promise<void> {
    const counts = new FrameCounts();
    const change = await this.encryption();
    const sink = pipeSink(process.stdout);
    const bytes = await writeToPipe(change?.(sink) ?? sink, counts.counted(this.storeFrames()), this.signal);
    this.source.progress.stop();
    console.error(this.begunReport('standard output', bytes, counts).text());
  }

  private async once(to: string): Promise<string> {
    const { writer } = await this.begin(to, await this.encryption());
    this.isThere = true;
    await writer.close();
    return to;
  }

  private async intoFile(to: string): Promise<void> {
    const begun = (await exists(to)) ? await this.continue(to) : await this.begin(to);
    this.sayFollowing();
    await this.follow(begun);
    this.reportFollowed(to);
  }

  /**
   * Writes one file after another until a signal arrives. The next run continues the last file if it is not encrypted.
   */
  private async intoFolder(rotate: Rotation): Promise<void> {
    const { to, recipient } = this.options;
    const { signal, finished } = this;
    await mkdir(to, { recursive: true });
    this.sayFollowing();
    const change = await this.encryption();
    const newest = (await backupsIn(to)).filter((name) => !name.endsWith('.age')).at(-1);
    let path = newest === undefined || recipient !== undefined ? undefined : join(to, newest);
    // Hand over these files again, because there is no record of which ones were handed over.
    for (const one of await backupsIn(to)) if (join(to, one) !== path) finished.add(join(to, one));
    let begun = path === undefined ? undefined : await this.continue(path);
    while (!signal.aborted) {
      const beginsMs = begun?.beginsMs ?? Date.now();
      const isFull = (appended: number) => isDue(rotate, appended, Date.now() - beginsMs);
      if (change !== undefined) {
        path = join(to, backupNameAt(beginsMs, true));
        await this.encryptedFile(path, change, isFull);
        finished.add(path);
      } else {
        path ??= join(to, backupNameAt(beginsMs));
        await this.follow(begun ?? (await this.begin(path)), isFull);
        if (!signal.aborted) finished.add(path);
      }
      if (signal.aborted) break;
      path = undefined;
      begun = undefined;
    }
    this.reportFollowed(path ?? to);
  }

  private async begin(path: string, change?: ChangeSink): Promise<Begun> {
    const counts = new FrameCounts();
    const beginsMs = Date.now();
    const writer = await writeNewBackup(path, counts.counted(this.storeFrames()), this.signal, change);
    this.source.progress.stop();
    print(this.begunReport(path, writer.byteLength, counts), this.options);
    this.isThere = true;
    return { writer, coverage: counts.coverage, beginsMs };
  }

  /** Continues the file after its last complete segment. */
  private async continue(path: string): Promise<Begun> {
    const { storeId } = this.source.reader;
    this.isThere = true;
    const progress = new Progress('Checking the file', !this.options.json);
    try {
      await access(path, constants.W_OK);
      const whole = await checkBackup(path, progress.update);
      const { storeId: found } = openFormats(whole.meta);
      if (found !== storeId)
        throw new ToolError(`${path} is a backup of a different store, ${found}, not of ${storeId}`);
      if (whole.cutBytes > 0) {
        progress.warn(`the last segment of ${path} was cut off: its ${whole.cutBytes} bytes are discarded`);
      }
      this.say(`Continuing ${path}, which is complete up to ${isoTime(whole.coverage.timeMs)}.`);
      const { birthtimeMs } = await stat(path);
      return { writer: await BackupWriter.continue(path, whole), coverage: whole.coverage, beginsMs: birthtimeMs };
    } finally {
      progress.stop();
    }
  }

  private async follow(
    { writer, coverage, beginsMs }: Begun,
    isFull: (appended: number) => boolean = () => false,
  ): Promise<void> {
    this.watch?.file(beginsMs);
    try {
      for await (const frame of this.followed(coverage, () => writer.byteLength, isFull)) {
        if (frame.type === 'end') await writer.endSegment(frame);
        else await writer.add(frame);
      }
    } finally {
      this.bytes = writer.byteLength;
      await writer.close();
    }
  }

  /** Writes the store and all later entries as one stream. The file appears once the stream has ended. */
  private async encryptedFile(path: string, change: ChangeSink, isFull: (appended: number) => boolean): Promise<void> {
    // A signal during the copy of the store leaves no file. After the copy, a signal completes the file.
    const cancel = new AbortController();
    const onAbort = () => cancel.abort();
    this.signal.addEventListener('abort', onAbort);
    let bytes = 0;
    const sized: ChangeSink = (sink) => {
      const inner = change(sink);
      const write = async (piece: Buffer) => {
        bytes += piece.length;
        await inner.write(piece);
      };
      return { ...inner, write };
    };
    const frames = this.storeThenFollowed(
      path,
      () => bytes,
      isFull,
      () => this.signal.removeEventListener('abort', onAbort),
    );
    await writeNewBackup(path, frames, cancel.signal, sized);
    this.isThere = true;
    this.bytes = bytes;
  }

  private async *storeThenFollowed(
    path: string,
    bytes: () => number,
    isFull: (appended: number) => boolean,
    onBegun: () => void,
  ): AsyncGenerator<Frame, void> {
    const counts = new FrameCounts();
    this.watch?.file(Date.now());
    yield* counts.counted(this.storeFrames());
    onBegun();
    this.source.progress.stop();
    print(this.begunReport(path, bytes(), counts), this.options);
    yield* this.followed(counts.coverage, bytes, isFull);
  }

  /** Yields the frames that follow this coverage, until a signal arrives or the file is full. */
  private async *followed(
    coverage: Coverage,
    bytes: () => number,
    isFull: (appended: number) => boolean,
  ): AsyncGenerator<Frame, void> {
    const { source, signal, watch } = this;
    const full = new AbortController();
    const bytesBegun = bytes();
    watch?.covers(coverage.timeMs, bytesBegun);
    const onCovered = (timeMs: number) => {
      watch?.covers(timeMs, bytes());
      if (isFull(bytes() - bytesBegun)) full.abort();
    };
    const { warn } = source.progress;
    const ends = AbortSignal.any([signal, full.signal]);
    const onLag = (entries: number) => watch?.behind(entries);
    for await (const frame of framesAfter(source.live, coverage, {
      now: Date.now,
      warn,
      signal: ends,
      onLag,
      onCovered,
      checkArchive: () => this.checkArchive(),
      archivedSinceMs: () => Date.now() - source.settings.retention.transactions * DAY_MS,
    })) {
      if (frame.type === 'end') this.segments++;
      else if (frame.type === 'entry') this.entries++;
      yield frame;
    }
  }

  /** Checks that the address still leads to the same archive, which may have changed since the last connection. */
  private async checkArchive(): Promise<void> {
    const { settings, meta } = this.source;
    await checkArchiveIdentity(settings, meta).catch((error: Error) => {
      throw error instanceof FormatError ? new OtherArchiveError(error.message) : error;
    });
  }

  private storeFrames(): AsyncGenerator<Frame, void> {
    const { live, meta, progress } = this.source;
    const { update: onProgress, warn } = progress;
    // Let a signal end the retries while the store is down.
    const retryPolicy = {
      ...progress.retryPolicy,
      delay: (ms: number) => delay(ms, undefined, { signal: this.signal }),
    };
    const bytes = encodeMeta(withArchive(meta, undefined));
    const reading = { meta: bytes, now: Date.now, warn, onProgress, delay: retryPolicy.delay };
    return framesOfStore(sourceWithRetry(live, retryPolicy), reading);
  }

  private async encryption(): Promise<ChangeSink | undefined> {
    const { recipient } = this.options;
    if (recipient === undefined) return undefined;
    const { checkRecipient, encrypted } = await import('../tools/backup/age.js');
    recipient.forEach(checkRecipient);
    return (sink) => transformingSink(sink, (bytes) => encrypted(bytes, recipient));
  }

  private begunReport(file: string, bytes: number, counts: FrameCounts): Report {
    const { timeMs, shards } = counts.coverage;
    const copied = shards.map(
      ({ head, snapshot }, shard): CopiedShard => ({
        shard,
        snapshot: snapshot?.end,
        lsn: head.lsn,
        entries: counts.entriesOf(shard),
        bytes: counts.bytesOf(shard),
      }),
    );
    const { name, meta } = this.source;
    const { storeId } = meta;
    const time = isoTime(timeMs);
    const sentence = `Store ${name}, id ${storeId}, as of ${time}: ${formatBytes(bytes)} in ${file}`;
    return {
      text: () => `${copyTable(copied)}\n\n${sentence}`,
      json: () => [{ file, bytes, storeId, time, shards: copyJson(copied) }],
    };
  }

  private reportFollowed(file: string): void {
    const { bytes, segments, entries } = this;
    const what = `${plural(entries, 'entry', 'entries')} in ${plural(segments, 'segment')}`;
    print(
      {
        text: () => `Appended ${what}; the file has ${formatBytes(bytes)}.`,
        json: () => [{ file, bytes, segments, entries }],
      },
      this.options,
    );
  }

  private sayFollowing(): void {
    this.say('Following: new entries are in the file within a second or two. Ctrl-C ends the backup cleanly.');
  }

  /** Prints human-readable progress; JSON output omits it. */
  private say(text: string): void {
    if (!this.options.json) console.log(text);
  }
}
