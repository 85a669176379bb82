import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { must } from '../../src/base/assert.js';
import { HASH_NAME } from '../../src/base/hash.js';
import { silentLogger } from '../../src/base/logger.js';
import type { RecoveryDeps } from '../../src/log/recovery.js';
import { type TakeOverDeps, takeOver } from '../../src/log/take-over.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { BatchWriter, EntryFormat, Head, Owner } from '../../src/ports/wal.js';
import { EntryCodec, encodeHead, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { encodeMeta, META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { shardOf } from '../../src/threads/placement.js';
import { apply } from '../../src/wallet/apply.js';
import { type Archivable, archivableRounds } from '../../src/wallet/archiving.js';
import type { Command } from '../../src/wallet/command.js';
import { decide } from '../../src/wallet/decide/decide.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { MemoryWal } from '../support/memory-wal.js';
import { settingsWith } from '../support/settings.js';
import type { StoredBytes } from './store-file.js';

const START_MS = 1_700_000_000_000;
const STEP_MS = 7;
const META: StoreMeta = {
  storeId: '5b0c4d2e-8a41-4f6b-9c37-d1e2f3a4b5c6',
  formatVersion: META_VERSION,
  hash: HASH_NAME,
  createdMs: START_MS,
  shards: 2,
  scales: { default: 4, byCurrency: { BTC: 8, JPY: 0 } },
};

/** Writes a store's logs as its shards would, with the same clock and nonces in every run. */
export class StoreWriter {
  rules: Rules = { ...rulesOf(settingsWith()), tipsUnknown: 'credit' };
  readonly wallets: readonly Wallets[] = Array.from({ length: META.shards }, () => new Wallets());
  private readonly wal = new MemoryWal(META.storeId, META.shards);
  private readonly codec = new EntryCodec(META.storeId);
  private readonly heads: Head[] = this.wallets.map((_, shard) => genesisHead(META.storeId, shard));
  private nowMs = START_MS;
  private nonces = 0;

  /** Fences all shards for a new owner. */
  async takeOver(owner: Owner): Promise<void> {
    this.wait(STEP_MS);
    const deps = {
      ...recoveryDeps(this.wal, this.codec, owner),
      clock: { now: () => this.nowMs, monotonicMs: () => this.nowMs },
      newNonce: () =>
        createHash('sha256')
          .update(`nonce ${++this.nonces}`)
          .digest('hex')
          .slice(0, 16),
    };
    for (const { shard, entry } of await takeOver([...this.heads.keys()], deps)) this.heads[shard] = entry.head;
  }

  /** Writes one entry for each shard that has a command. Every command must produce an event. */
  async write(...commands: readonly Command[]): Promise<void> {
    const batches = new Map<number, BatchWriter>();
    for (const command of commands) {
      this.wait(STEP_MS);
      const shard = shardOf(command.username, META.shards);
      const wallets = this.wallets[shard] as Wallets;
      const { event, answer } = decide(wallets.get(command.username), command, this.rules, this.nowMs);
      assert.ok(event, `${JSON.stringify(command)} leaves no event: ${JSON.stringify(answer)}`);
      apply(wallets, event);
      const batch = batches.get(shard) ?? this.codec.beginBatch(this.nowMs);
      batch.add(event);
      batches.set(shard, batch);
    }
    for (const [shard, batch] of batches) {
      const previous = this.heads[shard] as Head;
      const lsn = { epoch: previous.lsn.epoch, sequence: previous.lsn.sequence + 1 };
      const entry = batch.seal({ shard, lsn, nonce: previous.nonce, previous });
      assert.deepEqual(await this.wal.append([{ shard, expected: previous, entries: [entry] }]), [{ type: 'ok' }]);
      this.heads[shard] = entry.head;
    }
  }

  /** Closed rounds in the form that an archive receives. */
  closedRoundsOf(username: string): readonly Archivable[] {
    const wallet = must(this.wallets[shardOf(username, META.shards)]?.get(username), 'a player of the story');
    return archivableRounds(wallet, this.nowMs + 1, 0, 100);
  }

  wait(ms: number): void {
    this.nowMs += ms;
  }

  get now(): number {
    return this.nowMs;
  }

  async bytes(): Promise<StoredBytes> {
    const logs = await Promise.all(this.heads.map((_, shard) => this.wal.read(shard, LSN_ZERO, 1000)));
    return { meta: encodeMeta(META), entries: logs.flat(), heads: this.heads.map(encodeHead) };
  }
}

/** Dependencies of a recovery, except for the log: an owner with a silent logger and without delays. */
export function recoveryDeps(wal: MemoryWal, format: EntryFormat, owner: Owner): RecoveryDeps & TakeOverDeps {
  return {
    wal,
    snapshots: wal,
    format,
    snapshotFormat: new SnapshotCodec(wal.storeId),
    owner,
    attemptsMax: 1,
    acknowledged: () => undefined,
    clock: { now: () => 0, monotonicMs: () => 0 },
    log: silentLogger,
    newNonce: () => 'ffffffffffffffff',
    yieldTurn: async () => {},
    delay: async () => {},
    recentBytesMax: 0,
  };
}
