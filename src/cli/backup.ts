import { access, constants } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { EXIT } from '../node/exit-codes.js';
import { openFormats } from '../store/format/store-formats.js';
import { encodeMeta } from '../store/meta.js';
import { checkBackup } from '../tools/backup/backup-reader.js';
import { BackupWriter, exists, writeNewBackup } from '../tools/backup/backup-writer.js';
import { framesAfter } from '../tools/backup/follow.js';
import { FrameCounts } from '../tools/backup/frame-counts.js';
import { framesOfStore } from '../tools/backup/store-frames.js';
import type { Coverage } from '../tools/coverage.js';
import { patientSource } from '../tools/patient-source.js';
import { ToolError } from '../tools/store-reader.js';
import { type CopiedShard, copyJson, copyTable } from './print/copied-shards.js';
import { formatBytes, isoTime, plural } from './print/format.js';
import { Progress } from './print/progress.js';
import { stopSignal } from './stop-signal.js';
import { STORE_ADDRESS_HELP } from './store-address.js';
import { helpText, type OutputOptions, print } from './verb.js';
import { type ReadStore, withStoreToRead } from './with-store.js';

interface BackupOptions extends OutputOptions {
  readonly to: string;
  readonly from?: string;
  readonly follow?: true;
}

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('write a store, serving or not, into one compressed file; the store is only read')
    .requiredOption('--to <file>', 'a new file; with --follow, a file that exists is continued')
    .option('--from <store>', 'the store (default: WALLETD_STORE)')
    .option('--follow', 'append what comes, until SIGINT or SIGTERM')
    .option('--json', 'print one JSON object for each step instead of tables')
    .addHelpText(
      'after',
      helpText({
        notes: [STORE_ADDRESS_HELP],
        exitCodes: `${EXIT.ok} written, or followed until a signal; ${EXIT.failure} failed; a file that is there is whole.`,
        examples: [
          'walletd backup --to /var/backups/wallets-2026-01-31',
          'walletd backup --to /var/backups/wallets --follow --from env:WALLETS_REDIS',
        ],
      }),
    )
    .action((options: BackupOptions) =>
      withStoreToRead(options.from, progressOf('Backing up', options), (source) => new Backup(source, options).run()),
    );
}

function progressOf(what: string, { json }: BackupOptions): Progress {
  return new Progress(what, !json);
}

interface Begun {
  readonly writer: BackupWriter;
  readonly coverage: Coverage;
}

class Backup {
  /** The file is there, and whole up to its last segment. */
  private isThere = false;
  private readonly signal = stopSignal(() => {
    if (this.isThere) return EXIT.ok;
    console.error('walletd: interrupted, and the store does not answer: nothing was kept');
    return EXIT.failure;
  });

  constructor(
    private readonly source: ReadStore,
    private readonly options: BackupOptions,
  ) {}

  async run(): Promise<void> {
    const { to, follow } = this.options;
    const begun = follow && (await exists(to)) ? await this.continue() : await this.begin();
    this.isThere = true;
    try {
      if (follow) await this.follow(begun);
    } finally {
      await begun.writer.close();
    }
  }

  private async begin(): Promise<Begun> {
    const { source, options, signal } = this;
    const { live, meta, progress } = source;
    const { update: onProgress, warn } = progress;
    // A signal ends the wait for a store in an outage.
    const patience = { ...progress.patience, delay: (ms: number) => delay(ms, undefined, { signal }) };
    const counts = new FrameCounts();
    const frames = framesOfStore(patientSource(live, patience), {
      meta: encodeMeta(meta),
      now: Date.now,
      warn,
      onProgress,
    });
    const writer = await writeNewBackup(options.to, counts.counted(frames), signal);
    progress.stop();
    this.reportBegun(writer.byteLength, counts);
    return { writer, coverage: counts.coverage };
  }

  /** Goes on behind the last whole segment of the file. */
  private async continue(): Promise<Begun> {
    const { to } = this.options;
    const { storeId } = this.source.reader;
    this.isThere = true;
    const progress = progressOf('Checking the file', this.options);
    try {
      await access(to, constants.W_OK);
      const whole = await checkBackup(to, progress.update);
      const { storeId: found } = openFormats(whole.meta);
      if (found !== storeId) throw new ToolError(`${to} is a backup of another store, ${found}, not of ${storeId}`);
      if (whole.cutBytes > 0) {
        progress.warn(`the last segment of ${to} was cut off: ${whole.cutBytes} bytes are dropped`);
      }
      this.say(`Continuing ${to}, which goes to ${isoTime(whole.coverage.timeMs)}.`);
      return { writer: await BackupWriter.continue(to, whole), coverage: whole.coverage };
    } finally {
      progress.stop();
    }
  }

  private async follow({ writer, coverage }: Begun): Promise<void> {
    const { source, signal, options } = this;
    this.say('Following: new entries are in the file a second or two later. Ctrl-C ends it in good order.');
    const { live, progress } = source;
    const { warn } = progress;
    let segments = 0;
    let entries = 0;
    for await (const frame of framesAfter(live, coverage, { now: Date.now, warn, signal })) {
      if (frame.type === 'end') {
        await writer.endSegment(frame);
        segments++;
      } else {
        await writer.add(frame);
        entries++;
      }
    }
    const file = options.to;
    const bytes = writer.byteLength;
    const what = `${plural(entries, 'entry', 'entries')} in ${plural(segments, 'segment')}`;
    print(
      {
        text: () => `Appended ${what}; the file has ${formatBytes(bytes)}.`,
        json: () => [{ file, bytes, segments, entries }],
      },
      options,
    );
  }

  private reportBegun(bytes: number, counts: FrameCounts): void {
    const { source, options } = this;
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
    const { storeId } = source.meta;
    const file = options.to;
    const time = isoTime(timeMs);
    const sentence = `Store ${source.name}, id ${storeId}, as of ${time}: ${formatBytes(bytes)} in ${file}`;
    print(
      {
        text: () => `${copyTable(copied)}\n\n${sentence}`,
        json: () => [{ file, bytes, storeId, time, shards: copyJson(copied) }],
      },
      options,
    );
  }

  /** Says how it goes on to people only. */
  private say(text: string): void {
    if (!this.options.json) console.log(text);
  }
}
