import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { type ArchivedStore, recordOf } from '../node/drivers/open-store.js';
import { NoStoreError } from '../node/drivers/store-error.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { readerOf } from '../node/settings/reader-of.js';
import { formatLsn } from '../ports/lsn.js';
import type { NodeRecord } from '../store/node-record.js';
import { findLostItems, type OrphansFile } from '../tools/inspect/lost-items.js';
import { acceptLoss, findLosses, type Loss } from '../tools/loss/accept-loss.js';
import type { End } from '../tools/loss/salvage.js';
import { shardsOf } from '../tools/store-reader.js';
import { type AcceptArchiveLossOptions, acceptLostArchive } from './accept-archive-loss.js';
import { conclude, helpText } from './command.js';
import { confirm } from './confirm.js';
import { isoTime, plural } from './print/format.js';
import { lostCsv, lostTable } from './print/lost-items.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { requireStopped, STOPPED_OPTION, stoppedStoreDeps } from './stopped-store.js';
import { withStore } from './with-store.js';
import { writePrivate } from './write-private.js';

const NAMES_SHOWN = 20;
const NOTHING_MISSING = 'Nothing is missing: all shards would start.';

interface AcceptLossOptions extends AcceptArchiveLossOptions {
  readonly archive?: true;
}

export function addAcceptLoss(program: Command): void {
  program
    .command('accept-loss')
    .description(
      'show the entries that a store has lost, and let its shards continue without them after a confirmation',
    )
    .option('--archive', 'do the same for rounds that left memory and are missing from the archive')
    .option('--dry-run', 'only print and write the lists, without questions or changes; a server may be running')
    .option('--yes', 'do not ask')
    .option(...STOPPED_OPTION)
    .addHelpText(
      'after',
      helpText({
        notes: [
          `\
A shard stays stopped when its store lacks entries: entries that this node has acknowledged, entries that a snapshot
contains, or entries in the middle of its log. Bringing them back (from the right server, its disk or a backup) is better
than this command. After your confirmation each such shard continues from its last provable entry. Unusable entries are
kept in a file in WALLETD_NODE_FOLDER, which \`walletd inspect orphans FILE\` shows.`,
          `\
The command prints the callbacks that may be lost, as far as this node knows them, and writes them as CSV into
WALLETD_NODE_FOLDER/lost-callbacks-TIME.csv: the platform can repeat or cancel them.`,
          `\
With --archive: walletd does not trust an archive that is empty, outdated or different from the one that the log relies on,
and answers 503 to callbacks that need it. If the archive is really lost, this command writes the missing rounds as CSV into
WALLETD_NODE_FOLDER/lost-rounds-TIME.csv. After your confirmation walletd continues without them: a callback that repeats one
of these rounds then counts as new, and moves money again. See docs/archive.md.`,
        ],
        exitCodes: `${EXIT.ok} nothing is missing, the shards can continue, or --dry-run has shown the loss, ${EXIT.failure} you said no, or the command failed.`,
        examples: ['walletd accept-loss', 'walletd accept-loss --archive --dry-run'],
      }),
    )
    .action((options: AcceptLossOptions) =>
      conclude(options.archive ? acceptLostArchive(options) : acceptWhatIsLost(options), {}),
    );
}

async function acceptWhatIsLost(options: AcceptLossOptions): Promise<number> {
  const settings = loadSettings(process.env);
  const record = recordOf(settings);
  try {
    return await withStore(settings, async (opened) => {
      const { storeId } = opened.meta;
      const isKnown = record.storeId === undefined || record.storeId === storeId;
      if (isKnown) return await acceptLostHere(settings, opened, record, options);
      return await acceptLostStore(`There is another store, ${storeId},`, opened.name, record, options);
    });
  } catch (error) {
    if (!(error instanceof NoStoreError) || record.storeId === undefined) throw error;
    return await acceptLostStore('There is no store', error.store, record, options);
  }
}

/** Makes this node forget the store that it served before, when its address now holds a different store or none. */
async function acceptLostStore(
  what: string,
  name: string,
  record: NodeRecord,
  options: AcceptLossOptions,
): Promise<number> {
  console.log(`${what} at ${name}. This node has served ${record.storeId} there, up to`);
  for (const [shard, { lsn }] of record.all) console.log(`  shard ${shard}: ${formatLsn(lsn)}`);
  if (options.dryRun) return EXIT.ok;
  if (!(await confirm('Continue, and forget that store with all its players?', options))) return EXIT.failure;
  record.remove();
  console.log('This node has forgotten the store.');
  return EXIT.ok;
}

async function acceptLostHere(
  settings: Settings,
  opened: ArchivedStore,
  record: NodeRecord,
  options: AcceptLossOptions,
): Promise<number> {
  for (const [former, ends] of Object.entries(opened.meta.restoredUpTo ?? {})) {
    const lacking = record.findLacking(former, ends);
    if (lacking.length === 0) continue;
    console.log(`The store was made from ${former}, but lacks entries that this node has acknowledged there:`);
    for (const { shard, end, acknowledged } of lacking) {
      console.log(
        `  shard ${shard}: the store ends at ${formatLsn(end.lsn)}, but ${formatLsn(acknowledged.lsn)} was acknowledged`,
      );
    }
    if (options.dryRun) continue;
    if (!(await confirm('Continue without these entries?', options))) return EXIT.failure;
    record.forget(former);
  }
  return await acceptLostEntries(settings, opened, record, options);
}

async function acceptLostEntries(
  settings: Settings,
  opened: ArchivedStore,
  record: NodeRecord,
  options: AcceptLossOptions,
): Promise<number> {
  const shards = shardsOf(opened.meta);
  const deps = stoppedStoreDeps(settings, opened, record);
  if (!options.dryRun) await requireStopped(shards, deps, options.stopped === true);
  const progress = new Progress('Looking');
  const losses = await findLosses(shards, deps, progress.update).finally(() => progress.stop());
  for (const loss of losses) console.log(describe(loss, record));
  const isListed = await reportLost(settings, opened, losses);
  if (losses.length === 0) {
    const rest = isListed ? 'All shards would start. Correct the listed callbacks by hand.' : NOTHING_MISSING;
    console.log(rest);
    return EXIT.ok;
  }
  if (options.dryRun) return EXIT.ok;
  if (!(await confirm('Continue without the missing entries?', options))) return EXIT.failure;
  for (const loss of losses) {
    const { shard, head, players, kept } = await acceptLoss(loss, deps);
    await record.write(opened.meta.storeId, [[shard, head]]);
    const rest = kept === undefined ? '' : `; the unusable entries are in ${kept}`;
    console.log(`Shard ${shard} continues from ${formatLsn(head.lsn)} with ${plural(players, 'player')}${rest}.`);
  }
  return EXIT.ok;
}

/**
 * Prints the callbacks that may be lost, as far as this node knows them, and writes them to a CSV file. Returns false
 * if none is known. The known callbacks come from log entries after the loss, or from an orphans file that a server
 * saved. If the server was killed, only the number of lost entries is known.
 */
async function reportLost(settings: Settings, opened: ArchivedStore, losses: readonly Loss[]): Promise<boolean> {
  const reader = readerOf(opened.store, opened.meta, opened.archive);
  const reached = new Map(losses.map(({ shard, salvaged }) => [shard, salvaged.reached.lsn]));
  const { items, entries, notes } = await findLostItems(reader, await readOrphans(settings.nodeFolder), reached);
  for (const note of notes) console.error(`walletd: ${printable(note)}`);
  for (const { shard } of losses) {
    const known = entries.get(shard) ?? 0;
    const which =
      known === 0 ? 'The lost callbacks are not' : `The callbacks of ${plural(known, 'entry', 'entries')} are`;
    console.log(`Shard ${shard}: ${which} known to this node; ask the platform, or use walletd reconcile.`);
  }
  if (items.length === 0) return false;
  const path = join(settings.nodeFolder, `lost-callbacks-${Date.now()}.csv`);
  await writePrivate(path, lostCsv(items));
  console.log(`${plural(items.length, 'callback')} may be lost; all of them are in ${path}, for the platform.`);
  console.log(lostTable(items));
  return true;
}

async function readOrphans(folder: string): Promise<OrphansFile[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.startsWith('orphans-')).map((name) => join(folder, name));
  return await Promise.all(files.map(async (path) => ({ path, bytes: await readFile(path) })));
}

function describe({ shard, reason, salvaged, found }: Loss, record: NodeRecord): string {
  const { snapshot, problem, beyond, wallets } = salvaged;
  const { lsn, timeMs, untilMs } = endBeforeLoss(shard, salvaged, record);
  const base = snapshot === undefined ? 'its log from the first entry' : `snapshot ${snapshot.id} and the log`;
  const from = timeMs === 0 ? '' : ` (${isoTime(timeMs)})`;
  const lines = [
    `Shard ${shard}: ${reason}.`,
    `  It can continue with ${plural(wallets.count, 'player')}, rebuilt from ${base} up to ${formatLsn(lsn)}${from}.`,
  ];
  if (problem !== undefined) lines.push(`  The log cannot be used further: ${problem}.`);
  const end = Math.max(beyond > 0 ? found.lsn.sequence : lsn.sequence, snapshot?.end.lsn.sequence ?? 0);
  const missing = (record.acknowledged(shard)?.lsn.sequence ?? 0) - end;
  if (missing > 0) {
    const entries = plural(missing, 'acknowledged entry', 'acknowledged entries');
    const after = timeMs === 0 ? '' : `from ${isoTime(timeMs)} `;
    const time = Number.isFinite(untilMs) ? `, ${after}to ${isoTime(untilMs)},` : '';
    lines.push(`  ${entries}${time} ${missing === 1 ? 'is' : 'are'} missing.`);
  }
  if (beyond > 0) lines.push(...describeUnusable(salvaged));
  return lines.map(printable).join('\n');
}

/**
 * The end of the log when the loss was found. Each startup that was refused since then has appended a fence that reuses
 * the sequence number of a missing entry, so later ends do not count. `untilMs` is an upper bound of the times of the
 * missing entries.
 */
function endBeforeLoss(shard: number, { ends }: Loss['salvaged'], record: NodeRecord): End & { untilMs: number } {
  const acknowledged = record.acknowledged(shard);
  const writtenMs = record.acknowledgedMs(shard) ?? record.writtenMs ?? Number.POSITIVE_INFINITY;
  const isSince = ({ lsn, timeMs }: End) =>
    acknowledged !== undefined && (lsn.epoch > acknowledged.lsn.epoch || timeMs > writtenMs);
  const last = ends.findLastIndex((end, i) => i === 0 || !isSince(end));
  const nextMs = ends[last + 1]?.timeMs ?? Number.POSITIVE_INFINITY;
  return { ...(ends[last] as End), untilMs: Math.min(nextMs, writtenMs) };
}

function describeUnusable({ beyond, unusable: { fromMs, toMs, usernames } }: Loss['salvaged']): string[] {
  const time = fromMs === undefined || toMs === undefined ? '' : ` from ${isoTime(fromMs)} to ${isoTime(toMs)}`;
  const some = [...usernames].slice(0, NAMES_SHOWN).join(', ');
  const more = usernames.size > NAMES_SHOWN ? ` and ${usernames.size - NAMES_SHOWN} more` : '';
  const about = usernames.size === 0 ? [] : [`  They affect ${some}${more}.`];
  return [`  ${plural(beyond, 'entry', 'entries')}${time} cannot be used; they will be kept in a file.`, ...about];
}
