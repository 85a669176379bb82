import type { Command } from 'commander';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { type ArchivedStore, recordOf } from '../node/drivers/open-store.js';
import { StoreError } from '../node/drivers/store-error.js';
import { EXIT } from '../node/settings/exit-codes.js';
import type { SnapshotResult } from '../snapshot/snapshotter.js';
import { takeSnapshots } from '../tools/snapshots/take-snapshots.js';
import { shardsOf } from '../tools/store-reader.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { formatBytes } from './print/format.js';
import { Progress } from './print/progress.js';
import { formatTable } from './print/table.js';
import { findRunningServer, operatorApiUrl } from './running-server.js';
import { requireStopped, STOPPED_OPTION, stoppedStoreDeps } from './stopped-store.js';
import { withStore } from './with-store.js';

interface TakeOptions extends OutputOptions {
  readonly stopped?: true;
}

export function addSnapshotTake(group: Command): void {
  group
    .command('take')
    .description('take a snapshot of each changed shard, through the running server or from a stopped store')
    .option(...STOPPED_OPTION)
    .option('--json', 'print a JSON object per line instead of a table')
    .addHelpText(
      'after',
      helpText({
        exitCodes: `${EXIT.ok} taken, or nothing had changed, ${EXIT.failure} a snapshot was abandoned or could not start.`,
        examples: ['walletd snapshot take'],
      }),
    )
    .action((options: TakeOptions) => conclude(take(options), options));
}

async function take({ stopped }: TakeOptions): Promise<Outcome> {
  const settings = loadSettings(process.env);
  const results = await withStore(settings, async (opened) => {
    const server = await findRunningServer(settings, opened.meta.storeId);
    return await (server === undefined ? takeOffline(opened, settings, stopped === true) : server.takeSnapshots());
  });
  return {
    text: () => formatTable(COLUMNS, results.map(row)),
    json: () => results,
    exitCode: results.some(({ type }) => type === 'abandoned') ? EXIT.failure : EXIT.ok,
  };
}

/** Takes snapshots without fencing. The store rejects a snapshot if a server starts in the meantime. */
async function takeOffline(
  opened: ArchivedStore,
  settings: Settings,
  isVouchedFor: boolean,
): Promise<readonly SnapshotResult[]> {
  const shards = shardsOf(opened.meta);
  const deps = stoppedStoreDeps(settings, opened, recordOf(settings));
  await requireStopped(shards, deps, isVouchedFor).catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error;
    const url = operatorApiUrl(settings);
    throw new StoreError(
      `no server of this store answers at ${url} (admin.host, admin.port); without one, ${error.message}`,
    );
  });
  const progress = new Progress('Taking snapshots');
  return await takeSnapshots(shards, deps, progress.update).finally(() => progress.stop());
}

const COLUMNS = [{ right: 'shard' }, 'result', 'snapshot', 'up to', { right: 'players' }, { right: 'bytes' }];

function row(result: SnapshotResult): string[] {
  const shard = String(result.shard);
  if (result.type === 'unchanged') return [shard, 'nothing has changed', '', '', '', ''];
  if (result.type === 'abandoned') return [shard, `abandoned: ${result.reason}`, '', '', '', ''];
  return [shard, 'taken', result.id, result.lsn, String(result.players), formatBytes(result.bytes)];
}
