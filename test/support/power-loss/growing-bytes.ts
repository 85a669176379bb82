/** Bytes of a file that can be written at any offset; holes contain zeros. */
export class GrowingBytes {
  private buffer: Buffer;
  length: number;

  constructor(bytes: Buffer) {
    this.buffer = Buffer.from(bytes);
    this.length = bytes.length;
  }

  get bytes(): Buffer {
    return this.buffer.subarray(0, this.length);
  }

  write(offset: number, data: Buffer): void {
    const end = offset + data.length;
    if (end > this.buffer.length) {
      const larger = Buffer.alloc(Math.max(end, 2 * this.buffer.length));
      this.bytes.copy(larger);
      this.buffer = larger;
    }
    data.copy(this.buffer, offset);
    this.length = Math.max(this.length, end);
  }

  truncate(length: number): void {
    if (length > this.length) this.write(length, Buffer.alloc(0));
    else this.buffer.fill(0, length, this.length);
    this.length = length;
  }
}
