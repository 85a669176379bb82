import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { atOnce } from '../../src/base/steps.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import { formatLsn, type Lsn } from '../../src/ports/lsn.js';
import type { ChunkSummary, Manifest } from '../../src/ports/snapshot-store.js';
import { appendOf, type BatchWriter, type Head, type Wal } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { shardOf } from '../../src/threads/placement.js';
import type { StoreReader } from '../../src/tools/store-reader.js';
import { ScaleTable } from '../../src/wallet/amount.js';
import { apply } from '../../src/wallet/apply.js';
import type { Command } from '../../src/wallet/command.js';
import { decide } from '../../src/wallet/decide/decide.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Event } from '../../src/wallet/event.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { addImage, imageOf } from '../../src/wallet/state/wallet-image.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { MemoryWal } from '../support/memory-wal.js';
import { settingsWith } from '../support/settings.js';

export const STORE_ID = '6a1f0e52-77b3-4c1d-8e21-0f3a9b5c7d42';
const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const STEP_MS = 7;
const OWNER = { host: 'node-a', pid: 4242, startedMs: START_MS };

/** An in-memory store, written as shards would write it, with a clock and nonces that are the same in every run. */
export class WrittenStore {
  readonly wal: MemoryWal;
  readonly wallets: Wallets[];
  readonly format = new EntryCodec(STORE_ID);
  readonly snapshotFormat = new SnapshotCodec(STORE_ID);
  readonly scales = new ScaleTable({ default: 4, byCurrency: { BTC: 8, JPY: 0 } });
  rules: Rules = { ...rulesOf(settingsWith()), tipsUnknown: 'credit' };
  nowMs = START_MS;
  private ids = 0;

  constructor(readonly shards = 1) {
    this.wal = new MemoryWal(STORE_ID, shards);
    this.wallets = Array.from({ length: shards }, () => new Wallets());
  }

  get reader(): StoreReader {
    return {
      storeId: STORE_ID,
      shards: this.shards,
      scales: this.scales,
      wal: this.wal,
      format: this.format,
      snapshots: this.wal,
      snapshotFormat: this.snapshotFormat,
      genesis: (shard) => genesisHead(STORE_ID, shard),
      shardOf: (username) => this.shardOf(username),
      yieldTurn: async () => {},
    };
  }

  /** Lets a new owner fence all shards. */
  async takeOver(): Promise<void> {
    this.nowMs += STEP_MS;
    await this.wal.fence([...this.wallets.keys()], (shard, previous) => {
      const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
      return this.format.encodeFence({ shard, lsn, nonce: this.newId(), previous, timeMs: this.nowMs }, OWNER);
    });
  }

  /** Appends one entry to each shard that has players in the commands. A command that causes no event is not stored. */
  async run(...commands: readonly Command[]): Promise<void> {
    const batches = new Map<number, BatchWriter>();
    for (const command of commands) {
      this.nowMs += STEP_MS;
      const shard = this.shardOf(command.username);
      const wallets = this.wallets[shard] as Wallets;
      const { event } = decide(wallets.get(command.username), command, this.rules, this.nowMs);
      if (event === undefined) continue;
      apply(wallets, event);
      const batch = batches.get(shard) ?? this.format.beginBatch(this.nowMs);
      batch.add(event);
      batches.set(shard, batch);
    }
    for (const [shard, batch] of batches) await this.append(shard, batch);
  }

  /** Appends an entry that no shard would have written. */
  async write(shard: number, ...events: readonly Event[]): Promise<void> {
    const batch = this.format.beginBatch(this.nowMs);
    for (const event of events) batch.add(event);
    await this.append(shard, batch);
  }

  async fund(username: string, balance: number, currency = 'THB'): Promise<void> {
    await this.run({ type: 'import-player', id: `open-${username}`, username, currency, balance });
  }

  /** Takes a complete snapshot of the current state. `change` can alter each wallet on its way into the snapshot. */
  async snapshot(shard = 0, change: (wallet: Wallet) => Wallet = (wallet) => wallet): Promise<Manifest> {
    const writer = await this.beginSnapshot(shard);
    await writer.chunk(Number.POSITIVE_INFINITY, change);
    return await writer.publish();
  }

  async beginSnapshot(shard = 0): Promise<SnapshotWriter> {
    const id = this.newId();
    const start = await this.wal.head(shard);
    assert.ok(await this.wal.beginSnapshot(shard, start.nonce, id));
    return new SnapshotWriter(this, shard, id, start);
  }

  /** Trims a shard's log as far as its snapshots permit. */
  async trim(before: Lsn, shard = 0): Promise<void> {
    const { nonce } = await this.wal.head(shard);
    assert.ok(await this.wal.trimLog(shard, nonce, await this.wal.snapshots(shard), before));
  }

  shardOf(username: string): number {
    return shardOf(username, this.shards);
  }

  newId(): string {
    return createHash('sha256')
      .update(`id ${++this.ids}`)
      .digest('hex')
      .slice(0, 16);
  }

  private async append(shard: number, batch: BatchWriter): Promise<void> {
    const previous = await this.wal.head(shard);
    const lsn = { epoch: previous.lsn.epoch, sequence: previous.lsn.sequence + 1 };
    const entry = batch.seal({ shard, lsn, nonce: previous.nonce, previous });
    const [outcome] = await this.wal.append([appendOf({ shard, previous, entry })]);
    assert.deepEqual(outcome, { type: 'ok' });
  }
}

/**
 * A snapshot in progress. The shard may continue between the snapshot's chunks, which makes the snapshot as fuzzy as a
 * real one.
 */
class SnapshotWriter {
  private readonly chunks: ChunkSummary[] = [];
  private position = 0;

  constructor(
    private readonly store: WrittenStore,
    private readonly shard: number,
    readonly id: string,
    private readonly start: Head,
  ) {}

  async chunk(players: number, change: (wallet: Wallet) => Wallet = (wallet) => wallet): Promise<void> {
    const { store, shard, id } = this;
    const wallets = store.wallets[shard] as Wallets;
    const chunk = store.snapshotFormat.beginChunk(shard, id, this.chunks.length);
    const end = Math.min(this.position + players, wallets.count);
    for (; this.position < end; this.position++) atOnce(chunk.add(change(wallets.at(this.position) as Wallet)));
    const { bytes, summary } = chunk.seal();
    assert.ok(await store.wal.writeChunk(shard, this.start.nonce, id, this.chunks.length, bytes));
    this.chunks.push(summary);
  }

  async publish(): Promise<Manifest> {
    const { store, shard, id, start, chunks } = this;
    const manifest: Manifest = {
      id,
      shard,
      start,
      end: await store.wal.head(shard),
      timeMs: store.nowMs,
      players: this.position,
      chunks,
      marks: [{ lsn: start.lsn, bytes: 0 }],
    };
    const sealed = store.snapshotFormat.sealManifest(manifest);
    assert.ok(await store.wal.publishSnapshot(shard, start.nonce, id, sealed));
    return manifest;
  }
}

/** A copy of the wallet with more money. The books of the wallet account for the addition. */
export function richer(wallet: Wallet, amount: number): Wallet {
  const copy = addImage(new Wallets(), imageOf(wallet));
  copy.balance += amount;
  copy.addOperation({ type: 'deposit', id: 'lie', amount, after: copy.balance, timeMs: 0 });
  return copy;
}

/** The same store with one entry of shard 0 changed. */
export function withEntry(
  { reader, format }: WrittenStore,
  lsn: string,
  change: (bytes: Buffer) => Buffer | undefined,
): StoreReader {
  const { wal } = reader;
  const read: Wal['read'] = async (shard, after, limit) => {
    const page = await wal.read(shard, after, limit + 1);
    const changed = page.flatMap((bytes) => {
      const isIt = formatLsn(format.decode(bytes).lsn) === lsn;
      return (isIt ? change(Buffer.from(bytes)) : bytes) ?? [];
    });
    return changed.slice(0, limit);
  };
  return { ...reader, wal: { head: (shard: number) => wal.head(shard), read } };
}
