import type { Command } from 'commander';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { EXIT } from '../node/exit-codes.js';
import { type ExistingStore, openAsItIs, recordOf, StoreError } from '../node/open-store.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';
import { createLogger } from '../telemetry/logger.js';
import { takeSnapshots } from '../tools/snapshots/take-snapshots.js';
import { shardsOf } from '../tools/store-reader.js';
import { formatBytes } from './print/format.js';
import { Progress } from './print/progress.js';
import { formatTable } from './print/table.js';
import { maybeRunningServer, operatorApiUrl } from './running-server.js';
import { mustBeStopped, offlineDeps } from './stopped-store.js';

interface TakeOptions {
  readonly stopped?: boolean;
  readonly json?: boolean;
}

export function addSnapshotTake(group: Command): void {
  group
    .command('take')
    .description('take a snapshot of each shard that has changed: asks the running server, or works on a stopped store')
    .option('--stopped', 'the server that owned the store last does not run any more')
    .option('--json', 'a JSON object per line instead of a table')
    .addHelpText(
      'after',
      `
Exit codes: ${EXIT.ok} taken, or nothing had changed, ${EXIT.failure} one was abandoned or could not be begun.

Example:
  walletd snapshot take`,
    )
    .action(async (options: TakeOptions) => {
      process.exitCode = await take(options);
    });
}

async function take({ stopped = false, json = false }: TakeOptions): Promise<number> {
  const settings = loadSettings(process.env);
  const results = await takeAnywhere(settings, stopped);
  if (json) for (const result of results) console.log(JSON.stringify(result));
  else console.log(formatTable(COLUMNS, results.map(row)));
  return results.some(({ type }) => type === 'abandoned') ? EXIT.failure : EXIT.ok;
}

async function takeAnywhere(settings: Settings, isVouchedFor: boolean): Promise<readonly SnapshotResult[]> {
  const opened = await openAsItIs(settings);
  try {
    const server = await maybeRunningServer(settings, opened.meta.storeId);
    return await (server === undefined ? takeOffline(opened, settings, isVouchedFor) : server.takeSnapshots());
  } finally {
    await opened.store.close();
  }
}

/** Nobody is fenced: should a server start meanwhile, it is the snapshot that is refused. */
async function takeOffline(
  opened: ExistingStore,
  settings: Settings,
  isVouchedFor: boolean,
): Promise<readonly SnapshotResult[]> {
  const progress = new Progress('Taking snapshots', true);
  try {
    const shards = shardsOf(opened.meta);
    const deps = offlineDeps(settings, opened, recordOf(settings), createLogger('silent'));
    await mustBeStopped(shards, deps, isVouchedFor).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      const url = operatorApiUrl(settings);
      throw new StoreError(`no server of this store answers at ${url} (admin.host, admin.port), and ${error.message}`);
    });
    return await takeSnapshots(shards, deps, (done, total) => progress.update(done, total));
  } finally {
    progress.stop();
  }
}

const COLUMNS = [{ right: 'shard' }, 'result', 'snapshot', 'up to', { right: 'players' }, { right: 'bytes' }];

function row(result: SnapshotResult): string[] {
  const shard = String(result.shard);
  if (result.type === 'unchanged') return [shard, 'nothing has changed', '', '', '', ''];
  if (result.type === 'abandoned') return [shard, `abandoned: ${result.reason}`, '', '', '', ''];
  return [shard, 'taken', result.id, result.lsn, String(result.players), formatBytes(result.bytes)];
}
