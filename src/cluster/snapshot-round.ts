import type { Cancel, Timers } from '../base/timers.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { PeerMessage } from './peer-protocol.js';

/** A peer whose snapshots take longer is not waited for; it takes them all the same. */
const WAIT_MS = 300_000;

/** Snapshots of the shards of all members. */
export class SnapshotRound {
  private nextId = 1;
  private readonly waiting = new Map<
    number,
    { readonly tag: string; readonly resolve: (r: readonly SnapshotResult[]) => void }
  >();

  constructor(
    private readonly takeHere: () => Promise<readonly SnapshotResult[]>,
    private readonly send: (tag: string, message: PeerMessage) => boolean,
    private readonly timers: Timers,
  ) {}

  /** `peers`: tags of those who are linked. One that is lost meanwhile has no results. */
  async take(peers: readonly string[]): Promise<readonly SnapshotResult[]> {
    const results = await Promise.all([this.takeHere(), ...peers.map((tag) => this.takeAt(tag))]);
    return results.flat().sort((a, b) => a.shard - b.shard);
  }

  /** A peer asks for them. */
  async asked(tag: string, id: number): Promise<void> {
    this.send(tag, { type: 'snapped', id, results: await this.takeHere() });
  }

  answered(id: number, results: readonly SnapshotResult[]): void {
    this.waiting.get(id)?.resolve(results);
  }

  linkLost(lost: string): void {
    for (const { tag, resolve } of this.waiting.values()) if (tag === lost) resolve([]);
  }

  private async takeAt(tag: string): Promise<readonly SnapshotResult[]> {
    const id = this.nextId++;
    let cancel: Cancel = () => {};
    const results = await new Promise<readonly SnapshotResult[]>((resolve) => {
      this.waiting.set(id, { tag, resolve });
      cancel = this.timers.after(WAIT_MS, () => resolve([]));
      if (!this.send(tag, { type: 'snap', id })) resolve([]);
    });
    cancel();
    this.waiting.delete(id);
    return results;
  }
}
