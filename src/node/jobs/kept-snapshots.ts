import { formatsOf } from '../../store/format/store-formats.js';
import type { StoreMeta } from '../../store/meta.js';
import { type SnapshotLine, snapshotLines } from '../../tools/snapshots/snapshot-overview.js';
import type { StoreSettings } from '../drivers/driver.js';
import { driverOf } from '../drivers/drivers.js';

/**
 * Lists the snapshots of all shards in the store. Uses a store connection of its own, because the main thread cannot
 * use the connections of the shards' threads.
 */
export class KeptSnapshots {
  private running: Promise<readonly SnapshotLine[]> | undefined = undefined;

  constructor(
    private readonly settings: StoreSettings,
    private readonly meta: StoreMeta,
  ) {}

  /** Lists the snapshots. Concurrent calls share one result. Rejects during an outage. */
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
