import type { Lsn } from '../../ports/lsn.js';

/*
 * Keys are compared as bytes, and integers are big-endian. A shard's keys are therefore contiguous and in numeric
 * order.
 */

export function headKey(shard: number): Buffer {
  const key = Buffer.allocUnsafe(2);
  key.writeUInt16BE(shard, 0);
  return key;
}

export function entryKey(shard: number, lsn: Lsn): Buffer {
  const key = Buffer.allocUnsafe(14);
  key.writeUInt16BE(shard, 0);
  key.writeUInt32BE(lsn.epoch, 2);
  key.writeUInt16BE(0, 6);
  key.writeUIntBE(lsn.sequence, 8, 6); // `Buffer` writes at most 6 bytes as one number.
  return key;
}

export function sequenceOf(entryKey: Uint8Array): number {
  return Buffer.from(entryKey).readUIntBE(8, 6);
}

/** The key of a snapshot. `id` has 16 hexadecimal digits. */
export function snapshotKey(shard: number, id: string): Buffer {
  const key = Buffer.allocUnsafe(10);
  key.writeUInt16BE(shard, 0);
  key.write(id, 2, 'hex');
  return key;
}

export function snapshotIdOf(snapshotKey: Uint8Array): string {
  return Buffer.from(snapshotKey).toString('hex', 2);
}

export function chunkKey(shard: number, id: string, index: number): Buffer {
  const key = Buffer.allocUnsafe(14);
  key.writeUInt16BE(shard, 0);
  key.write(id, 2, 'hex');
  key.writeUInt32BE(index, 10);
  return key;
}
