import type { Command } from 'commander';
import { ConfigError } from '../config/config-error.js';
import type { Driver, StoreSettings } from '../node/drivers/driver.js';
import { driverOf } from '../node/drivers/drivers.js';
import { discardArchive, hasArchive, identifyArchive, openArchive } from '../node/drivers/open-archive.js';
import { EXIT } from '../node/settings/exit-codes.js';
import type { Archive } from '../ports/archive.js';
import { openFormats } from '../store/format/store-formats.js';
import { encodeMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import { framesOfFile, framesOnce } from '../tools/backup/backup-reader.js';
import { framesOfStore } from '../tools/backup/store-frames.js';
import type { TargetStore } from '../tools/copy-ports.js';
import type { Frame, Frames } from '../tools/frame.js';
import { type At, parseAt } from '../tools/point-in-time.js';
import { dryTarget } from '../tools/restore/dry-target.js';
import type { Restored, RestoreOptions as RestoringOptions } from '../tools/restore/restore.js';
import { ToolError } from '../tools/store-reader.js';
import { argument } from './argument.js';
import { type BackupInputOptions, backupInput, cutOffSentence, IDENTITY_OPTION } from './backup-input.js';
import { conclude, helpText, type Outcome, type OutputOptions, type Report } from './command.js';
import { confirm } from './confirm.js';
import { copyJson, copyTable, newestTime } from './print/copied-shards.js';
import { isoTime, plural } from './print/format.js';
import { Progress } from './print/progress.js';
import { checkShards, parseShards, restoreInShards } from './resharding.js';
import { checkHasNoEvent, checkTarget, type RestoredSource } from './restore-checks.js';
import { showPlayer } from './restore-player.js';
import { restoreTargetOf } from './restore-target.js';
import { stopSignal } from './stop-signal.js';
import { isStoreAddress, STORE_ADDRESS_HELP, settingsOfStore } from './store-address.js';
import { emptyTarget, type Target, withOpenedTarget, withTarget } from './target-place.js';
import { whoServes } from './who-serves.js';
import { withStoreToRead } from './with-store.js';

interface RestoreOptions extends OutputOptions, BackupInputOptions {
  readonly from: string;
  readonly to?: string;
  readonly at?: At;
  readonly shards?: number;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly player?: string;
  readonly show?: true;
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('write a backup or another store into an empty store')
    .requiredOption(
      '--from <file|store>',
      'a backup file, a folder of --rotate, - for a pipe, or a store, which is only read',
    )
    .option('--to <store>', 'an empty store, or one without an event')
    .option('--at <time|lsn>', 'restore up to a past moment, see below', argument(parseAt))
    .option(
      '--shards <number>',
      'change the number of shards, which creates a new store, see below',
      argument(parseShards),
    )
    .option('--dry-run', 'run every check and report the result, but write nothing')
    .option('--accept-cut-off', 'restore the complete segments of a backup whose last segment was cut off')
    .option(...IDENTITY_OPTION)
    .option('--yes', 'do not ask, even if a server may be using the store')
    .option('--player <name>', 'with --show: only this player, with the correction that would restore the balance')
    .option('--show', 'with --player: show only, write nothing')
    .option('--json', 'print one JSON object instead of a table')
    .addHelpText(
      'after',
      helpText({
        notes: [
          STORE_ADDRESS_HELP,
          `\
--at TIME is ISO 8601 with its zone (2026-01-31T12:00:00Z, 2026-01-31T19:00:00+07:00) or milliseconds since 1970. Each
shard is restored up to its last log entry not later than this time, by the clock of the shard: between players of
different shards the cut can differ by some milliseconds.`,
          '--at SHARD:LSN,SHARD:LSN… restores these shards up to these entries, and all other shards completely.',
          `\
--shards NUMBER (1 to 1024) creates a new store with its own id. It contains all players with their balances, transactions
and first answers, and its logs begin there. The earlier history stays in the old store: keep that store, or a backup. Start
nodes on the new store with WALLETD_SHARDS=NUMBER. The restore needs as much memory for the players as a server.`,
          `\
A file is checked completely before anything is written. A pipe is checked while it is written; if the check fails, the new
store cannot serve.`,
          'A copy of a running store lacks all later entries: to move a store, stop its server first.',
        ],
        exitCodes: `\
${EXIT.ok} restored; ${EXIT.failure} refused or failed: a partial store cannot serve, so empty it and restore again;
${EXIT.cutOff} the backup was cut off: without --accept-cut-off nothing of a file is written.`,
        examples: [
          'walletd restore --from /var/backups/wallets-2026-01-31 --to lmdb:./restored',
          'walletd restore --from /var/backups/wallets --to lmdb:./restored --at 2026-01-31T12:00:00Z',
          'walletd restore --from lmdb:./data --to env:WALLETS_REDIS',
          'walletd restore --from lmdb:./data --to lmdb:./data-16 --shards 16',
          'walletd restore --from /var/backups/wallets --player ann --show --at 2026-01-31T12:00:00Z',
          'aws s3 cp s3://backups/wallets.age - | walletd restore --from - --identity key.txt --to env:WALLETS_REDIS',
        ],
      }),
    )
    .action((options: RestoreOptions) => conclude(restore(options), options));
}

async function restore(options: RestoreOptions): Promise<Outcome | number> {
  const { player, show } = options;
  if ((player === undefined) !== (show === undefined)) {
    throw new ConfigError(
      '--player and --show must be used together: a single player is only shown, and an operator makes the correction',
    );
  }
  if (player !== undefined) return await showPlayer(player, options);
  const progress = new Progress(options.dryRun ? 'Checking' : 'Restoring', !options.json);
  const restoring = isStoreAddress(options.from) ? restoreStore(options, progress) : restoreFile(options, progress);
  return await restoring.finally(() => progress.stop());
}

async function restoreStore(options: RestoreOptions, progress: Progress): Promise<Report | number> {
  return await withStoreToRead(options.from, progress, ({ reader, meta, name }) => {
    const { update: onProgress, warn } = progress;
    const reading = { meta: encodeMeta(meta), at: options.at, now: Date.now, warn, onProgress };
    checkShards(reading.meta, options.shards);
    const hasArchived = async () => ((await reader.archive?.days()) ?? []).length > 0;
    return restoreInto({ name, frames: framesOfStore(reader, reading), hasArchived }, options, progress);
  });
}

/** Checks the complete file before anything is written. A pipe is checked while it is being read. */
async function restoreFile(options: RestoreOptions, progress: Progress): Promise<Report | number> {
  const { source, whole } = await backupInput(options.from, options.at, options);
  const { name } = source;
  if (whole !== undefined) {
    const cutOff = cutOffSentence(source, whole, options);
    if (cutOff !== undefined) progress.warn(cutOff);
    checkShards(whole.meta, options.shards);
    const frames = framesOfFile(source, whole, progress.update);
    const hasArchived = async () => await haveArchived(framesOfFile(source, whole));
    return await restoreInto({ name, frames, hasArchived }, options, progress);
  }
  const frames = framesOnce(source, {
    onEnd: (part) => {
      const cutOff = cutOffSentence(source, part, options);
      if (cutOff !== undefined) progress.warn(cutOff);
    },
  });
  // A pipe cannot be read twice, so archived rounds are detected only during the restore.
  return await restoreInto({ name, frames, hasArchived: async () => false }, options, progress);
}

async function haveArchived(frames: Frames): Promise<boolean> {
  for await (const { type } of frames) if (type === 'archived') return true;
  return false;
}

/** The store or backup to restore. */
interface Source extends Pick<RestoredSource, 'hasArchived'> {
  /** The human-readable name. */
  readonly name: string;
  readonly frames: Frames;
}

/** Runs the steps up to the first write, which `restore` and `restore --dry-run` share. */
async function restoreInto(source: Source, options: RestoreOptions, progress: Progress): Promise<Report | number> {
  const { to, at, shards, dryRun } = options;
  // Use the sentence that commander prints for a missing option.
  if (to === undefined) throw new ConfigError("required option '--to <store>' not specified");
  const settings = settingsOfStore(to);
  const driver = driverOf(settings);
  const restoring: RestoringOptions = { openFormats, at, retryPolicy: progress.retryPolicy };
  return await withTarget(driver, progress.warn, async (target) => {
    if (target.found?.hasEvents) {
      const served = await whoServes(undefined, target);
      checkHasNoEvent(target, driver, served.length > 0, progress.warn);
    }
    const { meta, all } = await begun(source.frames);
    // If the source is a pipe, its meta record is known only from here on.
    checkShards(meta, shards);
    const formats = openFormats(meta);
    const servers = await whoServes(formats.storeId, target);
    for (const sentence of servers) progress.warn(sentence);
    const restored = {
      storeId: shards === undefined ? formats.storeId : undefined,
      shards: shards ?? formats.shards,
      hasArchived: source.hasArchived,
    };
    await checkTarget(target, settings, driver, restored, servers.length > 0);
    const restore = dryRun
      ? restoreInShards(all, dryTarget(hasArchive(settings)), shards, restoring)
      : restoreNow(target, settings, servers.length > 0, options, progress, (into) =>
          restoreInShards(untilInterrupted(all, driver), into, shards, restoring),
        );
    const result = await restore;
    return result === undefined ? EXIT.failure : report(result, meta, source.name, driver.name, options, progress);
  });
}

/** Runs the steps from the first write on. Resolves to undefined if the operator declines. */
async function restoreNow(
  target: Target,
  settings: StoreSettings,
  isServed: boolean,
  options: RestoreOptions,
  progress: Progress,
  restore: (into: TargetStore) => Promise<Restored>,
): Promise<Restored | undefined> {
  const driver = driverOf(settings);
  if (isServed && !(await confirm('Restore anyway?', options))) return undefined;
  await emptyTarget(target, driver, (storeId) => discardArchive(settings, storeId));
  return await withOpenedTarget(target, driver, (store) => restoreTo(store, settings, restore, progress));
}

async function restoreTo(
  store: Store,
  settings: StoreSettings,
  restore: (into: TargetStore) => Promise<Restored>,
  progress: Progress,
): Promise<Restored> {
  const driver = driverOf(settings);
  let archive: Archive | undefined;
  const target = restoreTargetOf(store, {
    open: async (storeId) => {
      archive = await openArchive(settings, storeId);
      return archive;
    },
    renew: async (storeId) =>
      hasArchive(settings) ? await identifyArchive(settings, storeId, { renew: true }) : undefined,
  });
  try {
    return await restore(target);
  } catch (error) {
    if (await store.meta.tryRead().then(Boolean, Boolean)) progress.warn(incompleteWarning(driver));
    throw error;
  } finally {
    await archive?.close();
  }
}

function report(
  { storeId, copiedMs, shards }: Restored,
  meta: Buffer,
  source: string,
  store: string,
  { at, dryRun }: RestoreOptions,
  progress: Progress,
): Report {
  if (at?.type === 'time' && at.timeMs > copiedMs) {
    progress.warn(`--at is later than ${isoTime(copiedMs)}, the end of ${source}: later entries are not in the source`);
  }
  const newest = newestTime(shards);
  const time = newest === undefined ? 'without any entries' : `as of ${isoTime(newest)}, its newest entry`;
  const predicate = dryRun ? 'would be in' : 'is in';
  const untouched = dryRun ? ' Nothing was written.' : '';
  const before = openFormats(meta);
  const another =
    storeId === before.storeId
      ? ''
      : `\nIt is a different store from ${before.storeId}, with ${plural(shards.length, 'shard')} instead of ${before.shards}: ` +
        `start its nodes with WALLETD_SHARDS=${shards.length}.`;
  return {
    text: () =>
      `${copyTable(shards)}\n\nStore ${storeId} from ${source}, ${time}, ${predicate} ${store}.${untouched}${another}`,
    json: () => [
      {
        store,
        storeId,
        from: { storeId: before.storeId, shards: before.shards },
        dryRun,
        time: newest === undefined ? null : isoTime(newest),
        copied: isoTime(copiedMs),
        shards: copyJson(shards),
      },
    ],
  };
}

/** Reads the meta record, which is the first frame. Returns it together with all frames, including the meta frame. */
async function begun(frames: Frames): Promise<{ readonly meta: Buffer; readonly all: Frames }> {
  const iterator = frames[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done || first.value.type !== 'meta') throw new ToolError('the backup does not begin with a meta record');
  const meta = first.value;
  const all = async function* (): AsyncGenerator<Frame, void> {
    yield meta;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  return { meta: meta.bytes, all: all() };
}

/** Throws when a signal interrupts the restore, because a partial restore cannot be continued. */
async function* untilInterrupted(frames: Frames, target: Driver): AsyncGenerator<Frame, void> {
  const signal = stopSignal(() => {
    console.error(`walletd: ${incompleteWarning(target)}`);
    return EXIT.failure;
  });
  for await (const frame of frames) {
    if (signal.aborted) throw new ToolError('interrupted');
    yield frame;
  }
}

function incompleteWarning({ emptying }: Driver): string {
  return `the new store is incomplete and cannot be used: ${emptying} before the next attempt`;
}
