import type { Command } from 'commander';
import { systemClock } from '../base/clock.js';
import { messageOf } from '../base/message-of.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { clearTextWarnings } from '../node/boot/clear-text.js';
import { examinePostgres } from '../node/boot/examine-archive.js';
import { examineLogTime, judgeArchiveClock } from '../node/boot/examine-time.js';
import type { StoreSettings } from '../node/drivers/driver.js';
import { driverOf } from '../node/drivers/drivers.js';
import { hasArchive, openArchiveToRead } from '../node/drivers/open-archive.js';
import { RESTORE_ADVICE } from '../node/drivers/open-store.js';
import { asStoreError, NoStoreError, StoreError } from '../node/drivers/store-error.js';
import { tieOf } from '../node/drivers/tie-archive.js';
import { readBackup } from '../node/overview/backup-file.js';
import { EXIT } from '../node/settings/exit-codes.js';
import { handWarnings } from '../node/settings/hand-warning.js';
import type { StoreMeta } from '../store/meta.js';
import type { CheckResult } from '../store/store.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './command.js';
import { formatBytes } from './print/format.js';
import { formatTable } from './print/table.js';
import { findRemembered, findServerOf } from './remembered-store.js';
import { look } from './running-server.js';
import { STORE_ADDRESS_HELP, settingsOfStore } from './store-address.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description(
      'examine a store: durability, rights, time of a durable write, replicas, clock, free space, archive and server',
    )
    .argument('[store]', 'the store (default: WALLETD_STORE)')
    .option('--json', 'print a JSON object per finding instead')
    .addHelpText(
      'after',
      helpText({
        notes: [
          'doctor may run while a server runs. It writes some 200 KiB of its own data and removes it.',
          STORE_ADDRESS_HELP,
        ],
        exitCodes: `${EXIT.ok} no check is bad, ${EXIT.failure} a check is bad, or the store cannot be used.`,
        examples: ['walletd doctor', 'walletd doctor env:NEW_STORE'],
      }),
    )
    .action((store: string | undefined, options: OutputOptions) => conclude(doctor(store), options));
}

async function doctor(address: string | undefined): Promise<Outcome> {
  const settings =
    address === undefined
      ? loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys'])
      : settingsOfStore(address);
  const driver = driverOf(settings);
  const store = await driver.open('never').catch(async (error: Error) => {
    const remembered = error instanceof NoStoreError && (await findRemembered(settings, undefined, undefined));
    throw remembered
      ? new StoreError(`there is no store at ${driver.name}, and ${remembered}: ${RESTORE_ADVICE}`)
      : error;
  });
  const findings: CheckResult[] = [];
  try {
    const meta = await store.meta.tryRead();
    findings.push(judgeStore(meta, await findRemembered(settings, meta?.storeId, store)), ...(await store.examine()));
    if (meta !== undefined) {
      const logTime = await examineLogTime(store, meta, systemClock);
      if (logTime !== undefined) findings.push(logTime);
      findings.push(...(await examineArchive(settings, meta)));
    }
    findings.push(
      ...handWarnings(settings).map(({ says, todo }) => ({ about: 'money', verdict: 'look', says, todo }) as const),
    );
    findings.push(
      ...clearTextWarnings(settings).map(({ about, says, todo }) => ({ about, verdict: 'look', says, todo }) as const),
    );
    findings.push(...(await examineServer(settings)));
  } catch (error) {
    throw asStoreError(error as Error, driver.name);
  } finally {
    await store.close();
  }
  return {
    text: () => `${driver.name}\n\n${formatTable(['', '', '', ''], findings.map(row)).replace(/^\s*\n/, '')}`,
    json: () => findings,
    exitCode: findings.some(({ verdict }) => verdict === 'bad') ? EXIT.failure : EXIT.ok,
  };
}

/**
 * Judges the store at the address. `remembered` names the node or server that remembers a different store at this
 * address, or remembers one where none exists.
 */
function judgeStore(meta: StoreMeta | undefined, remembered: string | undefined): CheckResult {
  const about = 'store';
  const says = meta === undefined ? 'there is none' : `id ${meta.storeId}, ${meta.shards} shards`;
  if (remembered !== undefined) {
    return { about, verdict: 'bad', says: `${says}, and ${remembered}`, todo: `never walletd init; ${RESTORE_ADVICE}` };
  }
  if (meta !== undefined) return { about, verdict: 'good', says };
  return { about, verdict: 'look', says: `${says} yet`, todo: 'create it: walletd init' };
}

/** Checks that closed rounds have an archive and that the archive answers. */
async function examineArchive(settings: StoreSettings, meta: StoreMeta): Promise<readonly CheckResult[]> {
  if (!hasArchive(settings)) {
    const says = 'no archive is configured: closed rounds stay in memory';
    const todo =
      'set WALLETD_ARCHIVE, see docs/archive.md; or plan enough memory for all rounds within `retention.transactions`';
    return [{ about: 'archive', verdict: 'look', says, todo }];
  }
  try {
    return settings.archive === null
      ? [await examineFolder(settings, meta)]
      : [...(await examinePostgres(settings, meta)), ...(await examineArchiveClock(settings, meta))];
  } catch (error) {
    const todo = 'until the archive answers, callbacks that need it get 503, and closed rounds stay in memory';
    return [{ about: 'archive', verdict: 'bad', says: messageOf(error), todo }];
  }
}

async function examineArchiveClock(settings: StoreSettings, { storeId }: StoreMeta): Promise<readonly CheckResult[]> {
  const archive = await openArchiveToRead(settings, storeId);
  try {
    const serverMs = await archive?.serverMs();
    return serverMs === undefined ? [] : [judgeArchiveClock(serverMs, systemClock.now())];
  } finally {
    await archive?.close();
  }
}

async function examineFolder(settings: StoreSettings, meta: StoreMeta): Promise<CheckResult> {
  const about = 'archive';
  const tie = tieOf(settings, meta);
  const archive = await openArchiveToRead(settings, meta.storeId, { use: 'read', tie });
  if (archive === undefined) return { about, verdict: 'good', says: 'nothing has left memory yet' };
  try {
    const id = meta.archiveId === undefined ? '' : `id ${meta.archiveId}, `;
    const days = await archive.days();
    const { usedBytes } = await archive.room();
    return { about, verdict: 'good', says: `${id}${days.length} days, ${formatBytes(usedBytes)}` };
  } finally {
    await archive.close();
  }
}

/**
 * Judges the server that serves this store, by the same rules as `status`. Returns no findings if the settings do not
 * lead to such a server.
 */
async function examineServer(settings: Settings): Promise<readonly CheckResult[]> {
  const about = 'server';
  const api = await findServerOf(settings);
  if (api === undefined) return [];
  try {
    const { troubles } = await look(api, readBackup(settings.backup.metricsFile));
    if (troubles.length === 0) return [{ about, verdict: 'good', says: `${api.url} has no problems` }];
    return troubles.map(({ urgency, what, action }): CheckResult => {
      return { about, verdict: urgency === 'now' ? 'bad' : 'look', says: what, todo: action };
    });
  } catch (error) {
    return [{ about, verdict: 'bad', says: messageOf(error), todo: 'check its log and its machine' }];
  }
}

function row({ verdict, about, says, todo }: CheckResult): string[] {
  return [verdict, about, says, todo === undefined ? '' : `-> ${todo}`];
}
