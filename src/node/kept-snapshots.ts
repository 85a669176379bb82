import { formatsOf } from '../store/format/store-formats.js';
import type { StoreMeta } from '../store/meta.js';
import { type SnapshotLine, snapshotLines } from '../tools/snapshots/snapshot-overview.js';
import type { StoreSettings } from './drivers/driver.js';
import { driverOf } from './drivers/drivers.js';

/** Lists the snapshots that the store keeps, of all shards. The threads of the shards have it for themselves: it is opened once more. */
export class KeptSnapshots {
  private running: Promise<readonly SnapshotLine[]> | undefined = undefined;

  constructor(
    private readonly settings: StoreSettings,
    private readonly meta: StoreMeta,
  ) {}

  /** Calls that come meanwhile share the answer. Rejects during an outage. */
  list(): Promise<readonly SnapshotLine[]> {
    this.running ??= this.read().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  private async read(): Promise<readonly SnapshotLine[]> {
    const store = await driverOf(this.settings).openAgain(() => {});
    try {
      return await snapshotLines({ ...formatsOf(this.meta), snapshots: store.snapshots });
    } finally {
      await store.close();
    }
  }
}
