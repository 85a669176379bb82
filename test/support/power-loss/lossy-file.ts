import type { Random } from '../../simulation/random.js';
import { GrowingBytes } from './growing-bytes.js';

/** Some disks write 512-byte sectors atomically; most file systems write pages atomically. */
const SECTOR_BYTES = [512, 4096] as const;

/** A write. Without data, it is a change of the file's length. */
interface Change {
  readonly at: number;
  readonly offset: number;
  readonly data: Buffer | undefined;
  /** True if the file descriptor was opened with O_DSYNC. */
  readonly isDurable: boolean;
}

/** A file, both as processes see it and as it is on disk. */
export class LossyFile {
  readonly seen: GrowingBytes;
  private readonly synced: GrowingBytes;
  /** Changes that may not be on disk, and later durable changes. */
  private changes: Change[] = [];

  constructor(bytes: Buffer) {
    this.seen = new GrowingBytes(bytes);
    this.synced = new GrowingBytes(bytes);
  }

  get unsynced(): number {
    return this.changes.filter(({ isDurable }) => !isDurable).length;
  }

  change(at: number, offset: number, data: Buffer | undefined, isDurable = false): void {
    const change = { at, offset, data, isDurable };
    carryOut(change, this.seen);
    this.changes.push(change);
    if (isDurable) carryOut(change, this.synced);
  }

  /** Marks changes before this journal position as being on disk. */
  sync(before: number): void {
    for (const change of this.changes) if (change.at < before) carryOut(change, this.synced);
    this.changes = this.changes.filter(({ at }) => at >= before);
    // The synced changes may have overwritten later durable ones, so apply those again.
    for (const change of this.changes) if (change.isDurable) carryOut(change, this.synced);
  }

  /**
   * Disk contents after a power loss. With `random`, some unsynced bytes survive: the beginning of an append, and
   * arbitrary sectors of an overwrite.
   */
  afterLoss(random?: Random): Buffer {
    if (random === undefined) return this.synced.bytes;
    const left = new GrowingBytes(this.synced.bytes);
    const sectorBytes = random.pick(SECTOR_BYTES);
    let isCutOff = false;
    for (const change of this.changes) {
      const { offset, data, isDurable } = change;
      if (isDurable || data === undefined) {
        if (isDurable || random.chance(0.5)) carryOut(change, left);
        continue;
      }
      for (const [from, to] of sectorsOf(offset, data.length, sectorBytes)) {
        const isAppended = to > left.length;
        if (isAppended && (isCutOff || from > left.length)) continue;
        if (random.chance(0.5)) left.write(from, data.subarray(from - offset, to - offset));
        else isCutOff ||= isAppended;
      }
    }
    return left.bytes;
  }
}

function carryOut({ offset, data }: Change, bytes: GrowingBytes): void {
  if (data === undefined) bytes.truncate(offset);
  else bytes.write(offset, data);
}

function* sectorsOf(offset: number, length: number, sectorBytes: number): Generator<readonly [number, number]> {
  for (let from = offset; from < offset + length; ) {
    const to = Math.min(offset + length, (Math.floor(from / sectorBytes) + 1) * sectorBytes);
    yield [from, to];
    from = to;
  }
}
