import { BackupError } from '../restore/backup-error.js';
import { checkBackup } from '../restore/backup-reader.js';
import { BackupWriter, exists, writeNewBackup } from '../restore/backup-writer.js';
import type { Contents } from '../restore/contents.js';
import { framesAfter } from '../restore/follow.js';
import { patientSource } from '../restore/patience.js';
import type { SourceStore, StoreFormats } from '../restore/ports.js';
import { framesOfStore } from '../restore/store-frames.js';
import { Tally } from '../restore/tally.js';
import { encodeMeta } from '../store/meta.js';
import { type CopiedShard, copyJson, copyTable } from './copy-report.js';
import { openAsItIs } from './open-store.js';
import { Progress } from './progress.js';
import { settingsOfStore } from './store-address.js';
import { openFormats } from './store-formats.js';

export interface BackupOptions {
  readonly to: string;
  readonly from?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

interface Source {
  readonly name: string;
  readonly store: SourceStore;
  readonly meta: Buffer;
  readonly formats: StoreFormats;
}

/** Writes a store into a file; with `follow` until a signal ends it. */
export async function backup(options: BackupOptions): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  const { store, name, meta: record } = await openAsItIs(settingsOfStore(options.from));
  try {
    const meta = encodeMeta(record);
    const source = { name, store, meta, formats: openFormats(meta) };
    await new Backup(source, options, stop.signal).run();
  } finally {
    await store.close();
  }
}

class Backup {
  constructor(
    private readonly source: Source,
    private readonly options: BackupOptions,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<void> {
    const { to, follow = false } = this.options;
    const isThere = follow && (await exists(to));
    const { writer, contents } = isThere ? await this.continue() : await this.begin();
    try {
      if (follow) await this.follow(writer, contents);
    } finally {
      await writer.close();
    }
  }

  private async begin(): Promise<{ writer: BackupWriter; contents: Contents }> {
    const { source, options, signal } = this;
    const tally = new Tally();
    const progress = this.progress('Backing up');
    try {
      const { update: onProgress, warn, patience } = progress;
      const frames = framesOfStore(patientSource(source.store, patience), {
        ...source,
        now: Date.now,
        warn,
        onProgress,
      });
      const writer = await writeNewBackup(options.to, tally.counted(frames), signal);
      progress.stop();
      this.report(writer.byteLength, tally);
      return { writer, contents: tally.contents as Contents };
    } finally {
      progress.stop();
    }
  }

  /** Behind the last whole segment of the file. */
  private async continue(): Promise<{ writer: BackupWriter; contents: Contents }> {
    const { to } = this.options;
    const progress = this.progress('Checking the file');
    try {
      const whole = await checkBackup(to, progress.update);
      progress.stop();
      const { storeId } = openFormats(whole.meta);
      if (storeId !== this.source.formats.storeId)
        throw new BackupError(`${to} is a backup of another store: ${storeId}`);
      if (whole.cutBytes > 0)
        progress.warn(`the last segment of ${to} was cut off: ${whole.cutBytes} bytes are dropped`);
      this.say(`Continuing ${to}, which goes to ${new Date(whole.contents.timeMs).toISOString()}.`);
      return { writer: await BackupWriter.continue(to, whole), contents: whole.contents };
    } finally {
      progress.stop();
    }
  }

  private async follow(writer: BackupWriter, contents: Contents): Promise<void> {
    const { source, signal } = this;
    this.say('Following: what comes is appended within a second or two; Ctrl-C ends it in good order.');
    const { warn } = this.progress('');
    const options = { formats: source.formats, now: Date.now, warn, signal };
    let segments = 0;
    let entries = 0;
    for await (const frame of framesAfter(source.store, contents, options)) {
      if (frame.type === 'end') {
        await writer.endSegment(frame);
        segments++;
      } else {
        await writer.add(frame);
        entries++;
      }
    }
    if (this.options.json) this.print({ file: this.options.to, bytes: writer.byteLength, segments, entries });
    else
      this.say(
        `Appended ${entries} entries in ${segments} segments; ${this.options.to} has ${writer.byteLength} bytes.`,
      );
  }

  private report(bytes: number, tally: Tally): void {
    const { source, options } = this;
    const { timeMs, shards } = tally.contents as Contents;
    const copied = shards.map(
      ({ head, snapshot }, shard): CopiedShard => ({
        shard,
        snapshot: snapshot?.end,
        lsn: head.lsn,
        entries: tally.entriesOf(shard),
        bytes: tally.bytesOf(shard),
      }),
    );
    const { storeId } = source.formats;
    const time = new Date(timeMs).toISOString();
    if (options.json) this.print({ file: options.to, bytes, storeId, time, shards: copyJson(copied) });
    this.say(copyTable(copied));
    this.say(`Backed up store ${source.name} (${storeId}) to ${options.to}: ${bytes} bytes, up to ${time}.`);
  }

  private progress(what: string): Progress {
    return new Progress(what, !this.options.json);
  }

  private say(text: string): void {
    if (!this.options.json) console.log(text);
  }

  private print(result: object): void {
    console.log(JSON.stringify(result));
  }
}
