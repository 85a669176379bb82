/*
 * Arrays in PostgreSQL's binary format. When hundreds of rows were written as text, with bytes as hexadecimal digits,
 * the conversion took longer than all other work on the rows.
 *
 *   dimensions i32 = 1, has nulls i32 = 0, type of the elements i32, count i32, lowest index i32 = 1
 *   for each element its length i32, and its bytes
 */
const HEAD_BYTES = 20;
const LENGTH_BYTES = 4;
const TYPES = { int8: 20, int4: 23, bytea: 17 } as const;

export function int4Array(values: readonly number[]): Buffer {
  const bytes = begun('int4', values.length, values.length * (LENGTH_BYTES + 4));
  let at = HEAD_BYTES;
  for (const value of values) {
    at = bytes.writeInt32BE(4, at);
    at = bytes.writeInt32BE(value, at);
  }
  return bytes;
}

/** Encodes an array of safe, nonnegative integers. */
export function int8Array(values: readonly number[]): Buffer {
  const bytes = begun('int8', values.length, values.length * (LENGTH_BYTES + 8));
  let at = HEAD_BYTES;
  for (const value of values) {
    at = bytes.writeInt32BE(8, at);
    at = bytes.writeInt32BE(Math.floor(value / 2 ** 32), at);
    at = bytes.writeUInt32BE(value % 2 ** 32, at);
  }
  return bytes;
}

/** Encodes an array of byte strings. `write` writes the element with this index at an offset. */
export function byteaArray(
  lengths: readonly number[],
  write: (bytes: Buffer, at: number, index: number) => void,
): Buffer {
  const total = lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0);
  const bytes = begun('bytea', lengths.length, total);
  let at = HEAD_BYTES;
  for (const [index, length] of lengths.entries()) {
    at = bytes.writeInt32BE(length, at);
    write(bytes, at, index);
    at += length;
  }
  return bytes;
}

function begun(type: keyof typeof TYPES, count: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + length);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(0, 4);
  bytes.writeInt32BE(TYPES[type], 8);
  bytes.writeInt32BE(count, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}
