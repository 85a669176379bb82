import { must } from '../base/assert.js';
import { compareLsn, LSN_ZERO, type Lsn } from '../shard/log/lsn.js';
import { applyUnlessHeld } from '../shard/log/recovery.js';
import type { Head } from '../shard/log/wal.js';
import { DamagedSnapshotError, listSnapshots, readSnapshot } from '../shard/snapshot/snapshot-reader.js';
import type { Manifest } from '../shard/snapshot/snapshot-store.js';
import { apply } from '../wallet/apply.js';
import type { Event } from '../wallet/event.js';
import type { Wallet } from '../wallet/state/wallet.js';
import { Wallets } from '../wallet/state/wallets.js';
import type { StoreReader } from './store-reader.js';

const TURN_WALLETS = 500;
const ATTEMPTS_MAX = 3;

/** A shard's wallets as they grow out of a snapshot, or out of nothing, and the events after it. */
export class ShardView {
  private constructor(
    /** Undefined when the view begins before the first entry of all. */
    readonly manifest: Manifest | undefined,
    /** Replay begins with the entry after it. */
    readonly start: Head,
    /** Events up to here may be in the wallets already. */
    readonly end: Lsn,
    readonly wallets: Wallets,
  ) {}

  static ofNothing(genesis: Head): ShardView {
    return new ShardView(undefined, genesis, LSN_ZERO, new Wallets());
  }

  /** Throws a `DamagedSnapshotError`. */
  static async ofSnapshot(manifest: Manifest, reader: StoreReader): Promise<ShardView> {
    const wallets = new Wallets(await readSnapshot(manifest, reader));
    return new ShardView(manifest, manifest.start, manifest.end.lsn, wallets);
  }

  /** For people. */
  get name(): string {
    return this.manifest === undefined ? 'the first entry' : `snapshot ${this.manifest.id}`;
  }

  /**
   * Applies an event of the entry `lsn`, which comes after the start. Undefined when a wallet of the snapshot has it
   * already, else the wallet as it is then. Throws an `AssertionFailure` when the event does not fit.
   */
  apply(event: Event, lsn: Lsn): Wallet | undefined {
    if (compareLsn(lsn, this.end) > 0) apply(this.wallets, event);
    else if (!applyUnlessHeld(this.wallets, event)) return undefined;
    return must(this.wallets.get(event.username), 'an event leaves its wallet');
  }
}

/**
 * The first of these snapshots that is not damaged, else nothing at all. A running server deletes old ones: one that is
 * gone from the list is looked for in a new list. `onDamaged` is told of the others.
 */
export async function firstView(
  shard: number,
  reader: StoreReader,
  order: 'newest-first' | 'oldest-first',
  onDamaged: (error: DamagedSnapshotError) => void = () => {},
): Promise<ShardView | undefined> {
  for (let attempt = 1; ; attempt++) {
    const { whole } = await listSnapshots(shard, reader);
    let isGone = false;
    for (const manifest of order === 'newest-first' ? whole : [...whole].reverse()) {
      try {
        return await ShardView.ofSnapshot(manifest, reader);
      } catch (error) {
        if (!(error instanceof DamagedSnapshotError)) throw error;
        isGone = attempt < ATTEMPTS_MAX && !(await isListed(manifest, reader));
        if (isGone) break;
        onDamaged(error);
      }
    }
    if (!isGone) return undefined;
  }
}

async function isListed({ shard, id }: Manifest, { snapshots }: StoreReader): Promise<boolean> {
  return (await snapshots.snapshots(shard)).some((stored) => stored.id === id);
}

/** Calls `look` with each wallet, to look at only, in slices. */
export async function forEachWallet(
  wallets: Wallets,
  { yieldTurn }: Pick<StoreReader, 'yieldTurn'>,
  look: (wallet: Wallet, position: number) => void,
): Promise<void> {
  for (let position = 0; position < wallets.count; position++) {
    look(must(wallets.peek(position), 'every position has its wallet'), position);
    if (position % TURN_WALLETS === TURN_WALLETS - 1) await yieldTurn();
  }
}
