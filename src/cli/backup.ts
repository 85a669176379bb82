import { access, constants } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { EXIT } from '../node/exit-codes.js';
import { openAsItIs } from '../node/open-store.js';
import { openFormats } from '../store/format/store-formats.js';
import { encodeMeta, type StoreMeta } from '../store/meta.js';
import { checkBackup } from '../tools/backup/backup-reader.js';
import { BackupWriter, exists, writeNewBackup } from '../tools/backup/backup-writer.js';
import { framesAfter } from '../tools/backup/follow.js';
import { framesOfStore } from '../tools/backup/store-frames.js';
import { Tally } from '../tools/backup/tally.js';
import type { Contents } from '../tools/contents.js';
import { patientSource } from '../tools/patience.js';
import { type StoreReader, ToolError } from '../tools/store-reader.js';
import { type CopiedShard, copyJson, copyTable } from './print/copied-shards.js';
import { formatBytes, isoTime, plural } from './print/format.js';
import { Progress } from './print/progress.js';
import { readerOf } from './read-store.js';
import { stopSignal } from './stop-signal.js';
import { STORE_ADDRESS_HELP, settingsToRead } from './store-address.js';

interface BackupOptions {
  readonly to: string;
  readonly from?: string;
  readonly follow?: true;
  readonly json?: true;
}

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('write a store, serving or not, into one compressed file; the store is only read')
    .requiredOption('--to <file>', 'the file; it must not be there yet, except with --follow')
    .option('--from <store>', 'the store (default: WALLETD_STORE)')
    .option('--follow', 'append what comes, until SIGINT or SIGTERM; a file that is there is continued')
    .option('--json', 'one JSON object for each step instead of tables')
    .addHelpText(
      'after',
      `
${STORE_ADDRESS_HELP}

Exit codes: ${EXIT.ok} written, or followed until a signal; ${EXIT.failure} failed; a file that is there is whole.

Examples:
  walletd backup --to /var/backups/wallets-2026-01-31
  walletd backup --to /var/backups/wallets --follow --from env:WALLETS_REDIS`,
    )
    .action((options: BackupOptions) => backup(options));
}

async function backup(options: BackupOptions): Promise<void> {
  const { store, meta, name } = await openAsItIs(settingsToRead(options.from));
  try {
    await new Backup({ reader: readerOf(store, meta), meta, name }, options).run();
  } finally {
    await store.close();
  }
}

interface Source {
  readonly reader: StoreReader;
  readonly meta: StoreMeta;
  readonly name: string;
}

interface Begun {
  readonly writer: BackupWriter;
  readonly contents: Contents;
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
    private readonly source: Source,
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
    const tally = new Tally();
    const progress = this.progress('Backing up');
    try {
      const { update: onProgress, warn } = progress;
      // Whoever ends it does not have to wait for better weather.
      const patience = { ...progress.patience, delay: (ms: number) => delay(ms, undefined, { signal }) };
      const reading = { meta: encodeMeta(source.meta), now: Date.now, warn, onProgress };
      const frames = framesOfStore(patientSource(source.reader, patience), reading);
      const writer = await writeNewBackup(options.to, tally.counted(frames), signal);
      progress.stop();
      this.report(writer.byteLength, tally);
      return { writer, contents: tally.contents };
    } finally {
      progress.stop();
    }
  }

  /** Behind the last whole segment of the file. */
  private async continue(): Promise<Begun> {
    const { to } = this.options;
    const { storeId } = this.source.reader;
    this.isThere = true;
    const progress = this.progress('Checking the file');
    try {
      await access(to, constants.W_OK);
      const whole = await checkBackup(to, progress.update);
      const { storeId: found } = openFormats(whole.meta);
      if (found !== storeId) throw new ToolError(`${to} is a backup of another store, ${found}, not of ${storeId}`);
      if (whole.cutBytes > 0) {
        progress.warn(`the last segment of ${to} was cut off: ${whole.cutBytes} bytes are dropped`);
      }
      this.say(`Continuing ${to}, which goes to ${isoTime(whole.contents.timeMs)}.`);
      return { writer: await BackupWriter.continue(to, whole), contents: whole.contents };
    } finally {
      progress.stop();
    }
  }

  private async follow({ writer, contents }: Begun): Promise<void> {
    const { source, signal, options } = this;
    this.say('Following: what comes is in the file a second or two later. Ctrl-C ends it in good order.');
    const { warn } = this.progress('');
    let segments = 0;
    let entries = 0;
    for await (const frame of framesAfter(source.reader, contents, { now: Date.now, warn, signal })) {
      if (frame.type === 'end') {
        await writer.endSegment(frame);
        segments++;
      } else {
        await writer.add(frame);
        entries++;
      }
    }
    const bytes = writer.byteLength;
    if (options.json) this.print({ file: options.to, bytes, segments, entries });
    const what = `${plural(entries, 'entry', 'entries')} in ${plural(segments, 'segment')}`;
    this.say(`Appended ${what}; the file has ${formatBytes(bytes)}.`);
  }

  private report(bytes: number, tally: Tally): void {
    const { source, options } = this;
    const { timeMs, shards } = tally.contents;
    const copied = shards.map(
      ({ head, snapshot }, shard): CopiedShard => ({
        shard,
        snapshot: snapshot?.end,
        lsn: head.lsn,
        entries: tally.entriesOf(shard),
        bytes: tally.bytesOf(shard),
      }),
    );
    const { storeId } = source.reader;
    const time = isoTime(timeMs);
    if (options.json) this.print({ file: options.to, bytes, storeId, time, shards: copyJson(copied) });
    this.say(copyTable(copied));
    this.say(`\nStore ${source.name}, id ${storeId}, as of ${time}: ${formatBytes(bytes)} in ${options.to}`);
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
