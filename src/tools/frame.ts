import type { ArchiveRecord } from '../shard/archive/archive.js';
import type { Coverage } from './coverage.js';

/**
 * A part of a store on its way between stores and files. Frames come in this order:
 *
 *   meta                       once, first
 *   snapshot-begun, chunk ...  of a shard that has a snapshot; before its entries
 *   snapshot-abandoned         the snapshot vanished or proved damaged while it was read: its chunks do not count
 *   entry ...                  of a shard, in order: from the one at the snapshot's start, or from the first of the log
 *   archived ...               rounds of a shard that have left the wallets, after the entry in which they did
 *   end                        everything up to `coverage` has come; more may follow
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
