import { systemClock } from '../../base/clock.js';
import type { Settings } from '../../config/schema.js';
import { driverOf } from '../drivers/drivers.js';
import { checkRecord, initOf, openStore, recordOf } from '../drivers/open-store.js';
import { NoStoreError } from '../drivers/store-error.js';
import { checkTie } from '../drivers/tie-archive.js';
import { aliasesOf } from '../settings/aliases.js';
import { callersOf, describeCallers } from '../settings/callers.js';
import { Certificates } from '../settings/certificates.js';
import { handWarnings } from '../settings/hand-warning.js';
import { memoryShare } from '../settings/heap.js';
import { clearTextWarnings, mustBeEncrypted } from './clear-text.js';
import { type ArchivedMeta, findArchive } from './examine-archive.js';

/**
 * Runs every check that could make a start with these settings fail: keys, networks, certificates, memory, the store
 * and its creation settings. Throws the same errors as a start, and returns warnings. Opens no listener, creates
 * nothing, and neither takes over the store nor disturbs its current owner.
 */
export async function checkStart(settings: Settings): Promise<readonly string[]> {
  callersOf(settings);
  aliasesOf(settings);
  const certificates = new Certificates(settings, systemClock).warnings();
  mustBeEncrypted(settings);
  const warnings = [...handWarnings(settings), ...clearTextWarnings(settings)].map(
    ({ says, todo }) => `${says}: ${todo}.`,
  );
  memoryShare(settings);
  const { name } = driverOf(settings);
  const record = recordOf(settings);
  const first = [`Callbacks: ${describeCallers(settings)}.`, ...certificates.map((one) => `${one}.`), ...warnings];
  try {
    const { store, meta, durability } = await openStore(settings, 'never', record);
    const ofStore = await store.warnings();
    await store.close();
    await checkTie(settings, meta);
    const archive = await archiveSentences(settings, meta);
    return [
      ...first,
      `Store ${name}: id ${meta.storeId}, ${meta.shards} shards; ${durability}.`,
      ...archive,
      ...ofStore,
    ];
  } catch (error) {
    if (!(error instanceof NoStoreError) || initOf(settings) === 'never') throw error;
    checkRecord(record, undefined, name);
    const archive = await archiveSentences(settings, undefined);
    return [...first, `Store ${name}: it does not exist yet; the start creates it.`, ...archive];
  }
}

async function archiveSentences(settings: Settings, meta: ArchivedMeta | undefined): Promise<readonly string[]> {
  const archive = await findArchive(settings, meta);
  if (archive === undefined) return [];
  const { name, findings, away } = archive;
  if (away === undefined) return [`Archive ${name}: ${findings.map(({ says }) => says).join('; ')}.`];
  return [`Archive ${name} was not reachable: ${away}. walletd starts without it: lookups in the archive wait.`];
}
