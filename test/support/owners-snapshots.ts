import type { SnapshotStore, StoredSnapshot } from '../../src/ports/snapshot-store.js';
import type { MemorySnapshots } from './memory-snapshots.js';

type Writes = Pick<SnapshotStore, 'beginSnapshot' | 'writeChunk' | 'publishSnapshot' | 'deleteSnapshot'>;

/** Snapshot writes by a log's owner. A store implements how a write is made and which process may write. */
export abstract class OwnersSnapshots implements Writes {
  beginSnapshot(shard: number, nonce: string, id: string): Promise<boolean> {
    return this.writeAs(shard, nonce, [], (snapshots) => snapshots.begin(id));
  }

  writeChunk(shard: number, nonce: string, id: string, index: number, bytes: Buffer): Promise<boolean> {
    return this.writeAs(shard, nonce, [], (snapshots) => snapshots.write(id, index, bytes));
  }

  publishSnapshot(shard: number, nonce: string, id: string, manifest: Buffer): Promise<boolean> {
    return this.writeAs(shard, nonce, [], (snapshots) => snapshots.publish(id, manifest));
  }

  deleteSnapshot(shard: number, nonce: string, kept: readonly StoredSnapshot[], id: string): Promise<boolean> {
    return this.writeAs(shard, nonce, kept, (snapshots) => {
      snapshots.delete(id);
      return true;
    });
  }

  /** Calls `run` only if the log ends in this nonce and the snapshots to keep exist. Returns false otherwise. */
  protected abstract writeAs(
    shard: number,
    nonce: string,
    kept: readonly StoredSnapshot[],
    run: (snapshots: MemorySnapshots) => boolean,
  ): Promise<boolean>;
}
