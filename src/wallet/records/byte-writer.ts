import {
  copyBytes,
  DOUBLE_BYTES,
  NUMBER_BYTES_MAX,
  textBytesMax,
  writeNumber,
  writeSigned,
  writeText,
} from './bytes.js';

/** Maximum time distance that can be encoded: twice this value plus one is still a safe integer. */
const TIME_MAX = 2 ** 51;
const BYTES_MIN = 64 * 1024;

/** A growable byte buffer. */
export class ByteWriter {
  length = 0;
  private bytes = Buffer.allocUnsafe(BYTES_MIN);

  /** The bytes written so far; valid until the next write. */
  get written(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** A copy of the bytes written so far. */
  copied(): Buffer {
    const copy = Buffer.allocUnsafe(this.length);
    copyBytes(this.bytes, 0, copy, 0, this.length);
    return copy;
  }

  byte(value: number): void {
    this.room(1)[this.length++] = value;
  }

  number(value: number): void {
    this.length = writeNumber(this.room(NUMBER_BYTES_MAX), this.length, value);
  }

  signed(value: number): void {
    this.length = writeSigned(this.room(NUMBER_BYTES_MAX + 1), this.length, value);
  }

  double(value: number): void {
    this.length = this.room(DOUBLE_BYTES).writeDoubleLE(value, this.length);
  }

  /** Writes a time in milliseconds as its distance from another time. */
  time(value: number, after: number): void {
    const distance = value - after;
    if (Number.isSafeInteger(distance) && after + distance === value && Math.abs(distance) < TIME_MAX) {
      this.number(1 + Math.abs(distance) * 2 + (distance < 0 ? 1 : 0));
    } else {
      this.number(0);
      this.double(value);
    }
  }

  text(value: string): void {
    this.length = writeText(this.room(textBytesMax(value)), this.length, value);
  }

  copy(source: Buffer, start: number, end: number): void {
    copyBytes(source, start, this.room(end - start), this.length, end - start);
    this.length += end - start;
  }

  uint32At(at: number, value: number): void {
    this.bytes.writeUInt32BE(value, at);
  }

  private room(needed: number): Buffer {
    const end = this.length + needed;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, end));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    return this.bytes;
  }
}
