import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { LSN_ZERO, type Lsn } from '../../src/ports/lsn.js';
import type { Manifest } from '../../src/ports/snapshot-store.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import type { RawStore } from './raw-store.js';

const ENTRIES_MAX = 100_000;

/** A shard in a store, with methods for every kind of damage that can happen to it. */
export class DamageableShard {
  private constructor(
    readonly raw: RawStore,
    readonly shard: number,
    readonly lsns: readonly Lsn[],
    /** Manifests of the shard's snapshots, newest first. */
    readonly manifests: readonly Manifest[],
    private readonly format: EntryCodec,
    private readonly snapshotFormat: SnapshotCodec,
  ) {}

  static async of(raw: RawStore, shard: number): Promise<DamageableShard> {
    const { storeId } = await raw.meta();
    const format = new EntryCodec(storeId);
    const snapshotFormat = new SnapshotCodec(storeId);
    const entries = await raw.entries(shard, LSN_ZERO, ENTRIES_MAX);
    const manifests = [...(await raw.manifests(shard)).values()].map((bytes) => snapshotFormat.openManifest(bytes));
    manifests.sort((a, b) => b.end.lsn.sequence - a.end.lsn.sequence);
    const lsns = entries.map((bytes) => format.decode(bytes).lsn);
    return new DamageableShard(raw, shard, lsns, manifests, format, snapshotFormat);
  }

  get newest(): Manifest {
    return this.manifests[0] as Manifest;
  }

  /** Positions of the entries after the `nth` newest snapshot and before the next newer one. */
  after(nth: number): readonly Lsn[] {
    const from = (this.manifests[nth] as Manifest).end.lsn.sequence;
    const to = this.manifests[nth - 1]?.start.lsn.sequence ?? Number.POSITIVE_INFINITY;
    return this.lsns.filter(({ sequence }) => sequence > from && sequence < to);
  }

  async flipChunk({ id }: Manifest): Promise<void> {
    const bytes = (await this.raw.chunk(this.shard, id, 0)) as Buffer;
    await this.raw.putChunk(this.shard, id, 0, flipped(bytes));
  }

  async loseChunk({ id }: Manifest): Promise<void> {
    await this.raw.removeChunk(this.shard, id, 0);
  }

  /** Adds a valid manifest in a version that only a later walletd writes. */
  async bringFromFuture(manifest: Manifest): Promise<void> {
    const sealed = this.snapshotFormat.sealManifest(manifest).subarray(4).toString();
    const json = Buffer.from(sealed.replace(/"version":\d+/, '"version":99'));
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(json));
    await this.raw.putManifest(this.shard, manifest.id, Buffer.concat([checksum, json]));
  }

  async flipManifest(manifest: Manifest): Promise<void> {
    await this.raw.putManifest(this.shard, manifest.id, flipped(this.snapshotFormat.sealManifest(manifest)));
  }

  async flipEntry(lsn: Lsn): Promise<void> {
    const before = { epoch: lsn.epoch, sequence: lsn.sequence - 1 };
    const [bytes] = await this.raw.entries(this.shard, before, 1);
    await this.raw.putEntry(this.shard, lsn, flipped(bytes as Buffer));
  }

  async loseEntry(lsn: Lsn | undefined): Promise<void> {
    assert.ok(lsn !== undefined, 'there is such an entry');
    await this.raw.removeEntry(this.shard, lsn);
  }

  /** Truncates the log and its head before `lsn`, like a failover to a lagging replica. */
  async loseFrom(lsn: Lsn): Promise<void> {
    for (const one of this.lsns) if (one.sequence >= lsn.sequence) await this.raw.removeEntry(this.shard, one);
    const left = await this.raw.entries(this.shard, LSN_ZERO, ENTRIES_MAX);
    await this.raw.putHead(this.shard, this.format.decode(left.at(-1) as Buffer).head);
  }
}

function flipped(bytes: Buffer): Buffer {
  const damaged = Buffer.from(bytes);
  const middle = damaged.length >> 1;
  damaged.writeUInt8(damaged.readUInt8(middle) ^ 0x10, middle);
  return damaged;
}

export function middleOf(lsns: readonly Lsn[]): Lsn {
  const found = lsns[lsns.length >> 1];
  assert.ok(found !== undefined, 'there is such an entry');
  return found;
}
