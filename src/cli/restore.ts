import { checkBackup, framesOfFile } from '../restore/backup-reader.js';
import type { Frames } from '../restore/frame.js';
import { patientSource } from '../restore/patience.js';
import { type At, checkReach, reachesOf } from '../restore/point-in-time.js';
import { type Restored, restoreFrames } from '../restore/restore.js';
import { framesOfStore } from '../restore/store-frames.js';
import { encodeMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import { copyJson, copyTable } from './copy-report.js';
import { asStoreError, driverOf, openAsItIs, StoreError } from './open-store.js';
import { Progress } from './progress.js';
import { restoreTargetOf } from './restore-target.js';
import { isStoreAddress, settingsOfStore } from './store-address.js';
import { openFormats } from './store-formats.js';

export interface RestoreOptions {
  readonly from: string;
  readonly to: string;
  readonly at?: At;
  readonly json?: boolean;
}

interface Source {
  readonly frames: Frames;
  readonly close: () => Promise<void>;
}

/** Writes a backup, or another store, into an empty store. */
export async function restore(options: RestoreOptions): Promise<void> {
  const { from, to, at } = options;
  const progress = new Progress('Restoring', !options.json);
  const source = await (isStoreAddress(from) ? sourceOfStore(options, progress) : sourceOfFile(options, progress));
  try {
    const { store, name } = driverOf(settingsOfStore(to), 'auto');
    try {
      await mustBeEmpty(store, name);
      const restored = await restoreFrames(source.frames, restoreTargetOf(store), {
        openFormats,
        at,
        patience: progress.patience,
      });
      progress.stop();
      report(options, name, restored);
    } finally {
      await store.close();
    }
  } finally {
    progress.stop();
    await source.close();
  }
}

async function sourceOfStore({ from, at }: RestoreOptions, { update, warn, patience }: Progress): Promise<Source> {
  const { store, meta: record } = await openAsItIs(settingsOfStore(from));
  const meta = encodeMeta(record);
  const options = { meta, formats: openFormats(meta), at, now: Date.now, warn, onProgress: update };
  return { frames: framesOfStore(patientSource(store, patience), options), close: () => store.close() };
}

/** The whole file is proved before anything is written. */
async function sourceOfFile({ from, at, json }: RestoreOptions, { update, warn }: Progress): Promise<Source> {
  const checking = new Progress('Checking the file', !json);
  try {
    const whole = await checkBackup(from, checking.update);
    checkReach(at, reachesOf(whole.contents));
    if (whole.cutBytes > 0) {
      const time = new Date(whole.contents.timeMs).toISOString();
      warn(`the last segment of ${from} was cut off; restoring what is whole, which goes to ${time}`);
    }
    return { frames: framesOfFile(from, whole, update), close: async () => {} };
  } finally {
    checking.stop();
  }
}

async function mustBeEmpty(store: Store, name: string): Promise<void> {
  let storeId: string | undefined;
  try {
    storeId = (await store.maybeMeta())?.storeId;
  } catch (error) {
    throw asStoreError(error as Error, name);
  }
  if (storeId !== undefined) {
    throw new StoreError(`there is a store at ${name} already (${storeId}): a restore goes into an empty one only`);
  }
}

function report({ from, json }: RestoreOptions, name: string, { storeId, shards }: Restored): void {
  if (json) {
    console.log(JSON.stringify({ store: name, storeId, shards: copyJson(shards) }));
    return;
  }
  console.log(copyTable(shards));
  console.log(`Restored store ${storeId} from ${isStoreAddress(from) ? 'the other store' : from} into ${name}.`);
}
