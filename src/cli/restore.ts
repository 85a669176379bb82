import type { Command } from 'commander';
import type { Driver } from '../node/drivers/driver.js';
import { driverOf } from '../node/drivers/drivers.js';
import { openArchive } from '../node/drivers/open-archive.js';
import { EXIT } from '../node/exit-codes.js';
import { asStoreError, StoreError } from '../node/store-error.js';
import type { Archive } from '../shard/archive/archive.js';
import { openFormats } from '../store/format/store-formats.js';
import { encodeMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import { checkBackup, framesOfFile } from '../tools/backup/backup-reader.js';
import { framesOfStore } from '../tools/backup/store-frames.js';
import type { Frame, Frames } from '../tools/frame.js';
import { type At, checkReach, parseAt, reachesOf } from '../tools/point-in-time.js';
import { restoreFrames } from '../tools/restore/restore.js';
import { ToolError } from '../tools/store-reader.js';
import { argument } from './argument.js';
import { copyJson, copyTable } from './print/copied-shards.js';
import { isoTime } from './print/format.js';
import { Progress } from './print/progress.js';
import { restoreTargetOf } from './restore-target.js';
import { stopSignal } from './stop-signal.js';
import { isStoreAddress, STORE_ADDRESS_HELP, settingsOfStore } from './store-address.js';
import { conclude, helpText, type OutputOptions, type Report } from './verb.js';
import { withStoreToRead } from './with-store.js';

interface RestoreOptions extends OutputOptions {
  readonly from: string;
  readonly to: string;
  readonly at?: At;
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('write a backup, or another store, into an empty store')
    .requiredOption(
      '--from <file|store>',
      'a file that backup has written; or a store, serving or not, which is only read',
    )
    .requiredOption('--to <store>', 'an empty store')
    .option('--at <time|lsn>', 'stop at a moment of the past, see below', argument(parseAt))
    .option('--json', 'print one JSON object instead of a table')
    .addHelpText(
      'after',
      helpText({
        notes: [
          STORE_ADDRESS_HELP,
          `\
--at TIME is ISO 8601 with its zone (2026-01-31T12:00:00Z, 2026-01-31T19:00:00+07:00) or milliseconds since 1970. Each
shard is restored up to its last log entry whose newest event is not later, by its own clock: between players of
different shards the cut can be some milliseconds apart.`,
          '--at SHARD:LSN,SHARD:LSN… restores these shards up to these entries, and all others up to their end.',
          'A copy of a store that goes on serving lacks what comes later: to move a store, stop its server first.',
        ],
        exitCodes: `\
${EXIT.ok} restored; ${EXIT.failure} refused or failed: a store that was begun cannot serve, so empty it and restore again.`,
        examples: [
          'walletd restore --from /var/backups/wallets-2026-01-31 --to lmdb:./restored',
          'walletd restore --from /var/backups/wallets --to lmdb:./restored --at 2026-01-31T12:00:00Z',
          'walletd restore --from lmdb:./data --to env:WALLETS_REDIS',
        ],
      }),
    )
    .action((options: RestoreOptions) => conclude(restore(options), options));
}

async function restore(options: RestoreOptions): Promise<Report> {
  const progress = new Progress('Restoring', !options.json);
  const restoring = isStoreAddress(options.from) ? restoreStore(options, progress) : restoreFile(options, progress);
  return await restoring.finally(() => progress.stop());
}

async function restoreStore(options: RestoreOptions, progress: Progress): Promise<Report> {
  return await withStoreToRead(options.from, progress, ({ reader, meta, name }) => {
    const { update: onProgress, warn } = progress;
    const reading = { meta: encodeMeta(meta), at: options.at, now: Date.now, warn, onProgress };
    return restoreInto(framesOfStore(reader, reading), name, options, progress);
  });
}

/** Proves the whole file before it writes anything. */
async function restoreFile(options: RestoreOptions, progress: Progress): Promise<Report> {
  const { from, at, json } = options;
  const checking = new Progress('Checking the file', !json);
  const whole = await checkBackup(from, checking.update).finally(() => checking.stop());
  checkReach(at, reachesOf(whole.coverage));
  if (whole.cutBytes > 0) {
    progress.warn(`the last segment of ${from} was cut off; what is whole goes to ${isoTime(whole.coverage.timeMs)}`);
  }
  return await restoreInto(framesOfFile(from, whole, progress.update), from, options, progress);
}

async function restoreInto(
  frames: Frames,
  source: string,
  { to, at }: RestoreOptions,
  progress: Progress,
): Promise<Report> {
  const settings = settingsOfStore(to);
  const driver = driverOf(settings);
  const { name } = driver;
  const store = await driver.open('auto');
  let archive: Archive | undefined;
  const target = restoreTargetOf(store, async (storeId) => {
    archive = await openArchive(settings, storeId);
    return archive;
  });
  try {
    await mustBeEmpty(store, name);
    const { patience } = progress;
    const wanted = untilInterrupted(frames, driver);
    const restored = await restoreFrames(wanted, target, { openFormats, at, patience }).catch(async (error: Error) => {
      if (await store.meta.maybeRead().then(Boolean, Boolean)) progress.warn(notWhole(driver));
      throw error;
    });
    const { storeId, shards } = restored;
    return {
      text: () => `${copyTable(shards)}\n\nStore ${storeId} from ${source} is in ${name}.`,
      json: () => [{ store: name, storeId, shards: copyJson(shards) }],
    };
  } finally {
    await archive?.close();
    await store.close();
  }
}

/** Throws when a signal ends the restore: what has been written by then cannot be continued. */
async function* untilInterrupted(frames: Frames, target: Driver): AsyncGenerator<Frame, void> {
  const signal = stopSignal(() => {
    console.error(`walletd: ${notWhole(target)}`);
    return EXIT.failure;
  });
  for await (const frame of frames) {
    if (signal.aborted) throw new ToolError('interrupted');
    yield frame;
  }
}

function notWhole({ emptying }: Driver): string {
  return `the new store is not whole, and nothing will use it: ${emptying} before the next try`;
}

async function mustBeEmpty(store: Store, name: string): Promise<void> {
  let storeId: string | undefined;
  try {
    storeId = (await store.meta.maybeRead())?.storeId;
  } catch (error) {
    throw asStoreError(error as Error, name);
  }
  if (storeId === undefined) return;
  throw new StoreError(`there is a store at ${name} already, ${storeId}: a restore needs an empty place`);
}
