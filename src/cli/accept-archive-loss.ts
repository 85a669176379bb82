import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '../base/time.js';
import { ConfigError } from '../config/config-error.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { hasArchive } from '../node/drivers/open-archive.js';
import { type ArchivedStore, checkRecord, recordOf } from '../node/drivers/open-store.js';
import { StoreError } from '../node/drivers/store-error.js';
import { adoptArchive, findOther } from '../node/drivers/tie-archive.js';
import { livingMembers } from '../node/jobs/living-members.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { describeMissingDay } from '../ports/archive-behind-error.js';
import { formatLsn } from '../ports/lsn.js';
import type { NodeRecord } from '../store/node-record.js';
import { findLosses } from '../tools/loss/accept-loss.js';
import {
  type ArchiveLoss,
  acceptArchiveLoss,
  findArchiveLoss,
  type ShardArchiveLoss,
} from '../tools/loss/archive-loss.js';
import { shardsOf, ToolError } from '../tools/store-reader.js';
import { formatMark } from '../wallet/archive-mark.js';
import { confirm } from './confirm.js';
import { isoTime, plural } from './print/format.js';
import { lostRoundsCsv, lostRoundsTable, playersOf } from './print/lost-rounds.js';
import { printable } from './print/printable.js';
import { Progress } from './print/progress.js';
import { requireStopped, stoppedStoreDeps } from './stopped-store.js';
import { withStore } from './with-store.js';
import { writePrivate } from './write-private.js';

export interface AcceptArchiveLossOptions {
  readonly yes?: true;
  readonly stopped?: true;
  readonly dryRun?: true;
}

const ROUNDS_MAX = 1_000_000;

const MEANING = `\
Continuing without these rounds has permanent consequences:
  A callback that repeats one of these rounds counts as new, and moves money again.
  A late cancel, void or settle of one of these rounds is refused as unknown.
  The operator API and inspect no longer show them, even within their retention period.
Restoring a backup of the archive, or the followed backup, loses none of this: docs/archive.md.`;

/**
 * Shows the rounds that the logs rely on but the archive lacks. After confirmation, the shards continue without these
 * rounds.
 */
export async function acceptLostArchive(options: AcceptArchiveLossOptions): Promise<number> {
  const settings = loadSettings(process.env);
  if (!hasArchive(settings)) {
    throw new ConfigError(
      'no archive is configured: set WALLETD_ARCHIVE to the database with which walletd should continue',
    );
  }
  const record = recordOf(settings);
  const use = options.dryRun ? 'look' : 'repair';
  return await withStore(settings, (opened) => acceptIn(settings, opened, record, options), use);
}

async function acceptIn(
  settings: Settings,
  opened: ArchivedStore,
  record: NodeRecord,
  options: AcceptArchiveLossOptions,
): Promise<number> {
  checkRecord(record, opened.meta, opened.name);
  const shards = shardsOf(opened.meta);
  const deps = stoppedStoreDeps(settings, opened, record);
  if (!options.dryRun) {
    await requireStopped(shards, deps, options.stopped === true);
    const members = await livingMembers(opened.store.table, () => true);
    if (members.length > 0) {
      throw new StoreError(
        `${members.map(({ name }) => name).join(', ')} are running on this store: stop all nodes first`,
      );
    }
    // Refuse a log that lacks acknowledged entries: the fence that this command appends would hide the loss.
    const [broken] = await findLosses(shards, deps);
    if (broken !== undefined) throw new ToolError(`${broken.reason}: run walletd accept-loss without --archive first`);
  }
  const other = await findOther(settings, opened.meta);
  const progress = new Progress('Looking');
  const loss = await findArchiveLoss(shards, deps, {
    keptSinceMs: Date.now() - settings.retention.transactions * DAY_MS,
    roundsMax: ROUNDS_MAX,
    isOther: other !== undefined,
    onProgress: progress.update,
  }).finally(() => progress.stop());
  const isComplete = loss.shards.length === 0 && loss.missingDays.length === 0;
  if (isComplete && other === undefined) {
    console.log('Nothing is missing: the archive has everything that the logs rely on.');
    return EXIT.ok;
  }
  if (other !== undefined) console.log(`${sentence(other)}.`);
  if (!isComplete) await print(settings, loss);
  if (options.dryRun) return EXIT.ok;
  const question = isComplete ? 'Continue with this archive?' : 'Continue without these rounds?';
  if (!(await confirm(question, options))) return EXIT.failure;
  const { archive } = opened;
  if (archive === undefined) throw new ToolError('there is no archive to continue with');
  const heads = await acceptArchiveLoss(loss, archive, deps);
  await record.write(opened.meta.storeId, [...heads]);
  for (const [shard, { lsn }] of heads) console.log(`Shard ${shard} continues from ${formatLsn(lsn)}.`);
  const archiveId = await adoptArchive(settings, opened);
  if (other !== undefined) console.log(`The store now names the archive ${archiveId}.`);
  console.log('walletd trusts the archive from now on.');
  return EXIT.ok;
}

async function print(settings: Settings, { shards, missingDays }: ArchiveLoss): Promise<void> {
  for (const day of missingDays) console.log(`${sentence(describeMissingDay(day))}.`);
  for (const shard of shards) console.log(describe(shard));
  const rounds = shards.flatMap((one) => one.rounds.map((round) => ({ ...round, shard: one.shard })));
  if (rounds.length > 0) {
    await mkdir(settings.nodeFolder, { recursive: true });
    const path = join(settings.nodeFolder, `lost-rounds-${Date.now()}.csv`);
    await writePrivate(path, lostRoundsCsv(rounds));
    console.log(`${plural(rounds.length, 'round')} of ${plural(playersOf(rounds).size, 'player')} are in ${path}.`);
    console.log(lostRoundsTable(rounds));
  }
  console.log(MEANING);
}

function describe({ shard, required, mark, rounds, more, knownFrom }: ShardArchiveLoss): string {
  const has = mark === undefined ? 'has no records of this shard' : `ends with record ${formatMark(mark)}`;
  const lost = plural(rounds.length + more, 'lost round');
  const lines = [
    `Shard ${shard}: its log relies on record ${formatMark(required)} of the archive, which ${has}.`,
    `  The log names ${lost} of ${plural(playersOf(rounds).size, 'player')}.`,
  ];
  if (more > 0) lines.push(`  Only the first ${rounds.length} of them are listed.`);
  if (knownFrom !== undefined) {
    const { lsn, timeMs } = knownFrom;
    lines.push(
      `  The log has been trimmed: it begins at ${formatLsn(lsn)} (${isoTime(timeMs)}). Earlier rounds that left memory are unknown,`,
      '  and any player with rounds from before that time may be affected.',
    );
  }
  return lines.map(printable).join('\n');
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
