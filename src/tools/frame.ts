import type { ArchiveRecord } from '../ports/archive.js';
import type { Coverage } from './coverage.js';

/**
 * One piece of a store in transit between stores and files. Frames come in this order:
 *
 *   meta                       once, first
 *   snapshot-begun, chunk ...  the snapshot of a shard, if it has one, before the shard's entries
 *   snapshot-abandoned         the snapshot disappeared or proved damaged during reading; ignore its chunks
 *   entry ...                  entries of a shard in order, from the start of the snapshot or of the log
 *   archived ...               rounds of a shard that left memory, after the entry in which they left
 *   end                        all data up to `coverage` has been sent; more frames may follow
 */
export type Frame =
  | { readonly type: 'meta'; readonly bytes: Buffer }
  | { readonly type: 'snapshot-begun'; readonly shard: number; readonly manifest: Buffer }
  | { readonly type: 'chunk'; readonly shard: number; readonly index: number; readonly bytes: Buffer }
  | { readonly type: 'snapshot-abandoned'; readonly shard: number }
  | { readonly type: 'entry'; readonly shard: number; readonly bytes: Buffer }
  | { readonly type: 'archived'; readonly record: ArchiveRecord }
  | { readonly type: 'end'; readonly coverage: Coverage };

export type Frames = AsyncIterable<Frame>;
