import { must } from '../../base/assert.js';
import type { Coverage } from '../coverage.js';
import type { Frame, Frames } from '../frame.js';

/** Counts the frames of each shard as they pass through. */
export class FrameCounts {
  /** Number of rounds that have left memory. */
  archived = 0;
  private end: Coverage | undefined = undefined;
  private readonly counts = new Map<number, { entries: number; entryBytes: number; chunkBytes: number }>();

  async *counted(frames: Frames): AsyncGenerator<Frame, void> {
    for await (const frame of frames) {
      this.count(frame);
      yield frame;
    }
  }

  /** Coverage in the last `end` frame. */
  get coverage(): Coverage {
    return must(this.end, 'an end has passed');
  }

  entriesOf(shard: number): number {
    return this.of(shard).entries;
  }

  /** Total bytes of a shard's chunks and entries. */
  bytesOf(shard: number): number {
    const { entryBytes, chunkBytes } = this.of(shard);
    return entryBytes + chunkBytes;
  }

  private count(frame: Frame): void {
    if (frame.type === 'end') this.end = frame.coverage;
    if (frame.type === 'archived') this.archived++;
    if (!('shard' in frame)) return;
    const counts = this.of(frame.shard);
    if (frame.type === 'chunk') {
      counts.chunkBytes += frame.bytes.length;
    } else if (frame.type === 'entry') {
      counts.entries++;
      counts.entryBytes += frame.bytes.length;
    } else {
      counts.chunkBytes = 0;
    }
  }

  private of(shard: number) {
    const counts = this.counts.get(shard) ?? { entries: 0, entryBytes: 0, chunkBytes: 0 };
    this.counts.set(shard, counts);
    return counts;
  }
}
