import type { Command } from 'commander';
import { systemClock } from '../base/clock.js';
import { messageOf } from '../base/message-of.js';
import { loadSettings } from '../config/load.js';
import type { StoreSettings } from '../node/drivers/driver.js';
import { driverOf } from '../node/drivers/drivers.js';
import { hasArchive, openArchiveToRead } from '../node/drivers/open-archive.js';
import { examinePostgres } from '../node/examine-archive.js';
import { examineLogTime, judgeArchiveClock } from '../node/examine-time.js';
import { EXIT } from '../node/exit-codes.js';
import { asStoreError } from '../node/store-error.js';
import type { Finding } from '../store/store.js';
import { formatBytes } from './print/format.js';
import { formatTable } from './print/table.js';
import { STORE_ADDRESS_HELP, settingsOfStore } from './store-address.js';
import { conclude, helpText, type Outcome, type OutputOptions } from './verb.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('examine a store: durability, rights, time of a durable write, replicas, clock, room, archive')
    .argument('[store]', 'the store (default: WALLETD_STORE)')
    .option('--json', 'print a JSON object per finding instead')
    .addHelpText(
      'after',
      helpText({
        notes: [
          'It may run beside a server. What it writes is its own, some 200 KiB, and is removed.',
          STORE_ADDRESS_HELP,
        ],
        exitCodes: `${EXIT.ok} nothing is bad, ${EXIT.failure} something is, or the store cannot be used.`,
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
  const store = await driver.open('never');
  const findings: Finding[] = [];
  try {
    const meta = await store.meta.maybeRead();
    findings.push(
      meta === undefined
        ? { about: 'store', verdict: 'look', says: 'there is none yet', todo: 'create it: walletd init' }
        : { about: 'store', verdict: 'good', says: `id ${meta.storeId}, ${meta.shards} shards` },
      ...(await store.examine()),
    );
    if (meta !== undefined) {
      const logTime = await examineLogTime(store, meta, systemClock);
      if (logTime !== undefined) findings.push(logTime);
      findings.push(...(await examineArchive(settings, meta.storeId)));
    }
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

/** Whether closed rounds have a place to go to, and whether it answers. */
async function examineArchive(settings: StoreSettings, storeId: string): Promise<readonly Finding[]> {
  if (!hasArchive(settings)) {
    const says = 'there is none: closed rounds stay in memory';
    const todo = 'set WALLETD_ARCHIVE, see docs/archive.md; or plan the memory for all of `retention.transactions`';
    return [{ about: 'archive', verdict: 'look', says, todo }];
  }
  try {
    return settings.archive === null
      ? [await examineFolder(settings, storeId)]
      : [...(await examinePostgres(settings, storeId)), ...(await examineArchiveClock(settings, storeId))];
  } catch (error) {
    const todo = 'callbacks that need it get 503, and closed rounds stay in memory, until it answers';
    return [{ about: 'archive', verdict: 'bad', says: messageOf(error), todo }];
  }
}

async function examineArchiveClock(settings: StoreSettings, storeId: string): Promise<readonly Finding[]> {
  const archive = await openArchiveToRead(settings, storeId, 'read');
  try {
    const serverMs = await archive?.serverMs();
    return serverMs === undefined ? [] : [judgeArchiveClock(serverMs, systemClock.now())];
  } finally {
    await archive?.close();
  }
}

async function examineFolder(settings: StoreSettings, storeId: string): Promise<Finding> {
  const about = 'archive';
  const archive = await openArchiveToRead(settings, storeId, 'read');
  if (archive === undefined) return { about, verdict: 'good', says: 'nothing has left memory yet' };
  try {
    const days = await archive.days();
    const { usedBytes } = await archive.room();
    return { about, verdict: 'good', says: `${days.length} days, ${formatBytes(usedBytes)}` };
  } finally {
    await archive.close();
  }
}

function row({ verdict, about, says, todo }: Finding): string[] {
  return [verdict, about, says, todo === undefined ? '' : `-> ${todo}`];
}
