import type { Head } from '../ports/wal.js';
import type { Move } from '../threads/shards.js';

/**
 * An effect of a transition, which the runner carries out.
 *
 *   `command`         run the command on the shard's thread, and return its result as an input
 *   `notify`          run the command, without an input for its result
 *   `look`            read the head of the log
 *   `want`            request the shard from its owner
 *   `offer`           offer the paused shard to its new owner
 *   `serve`           route callbacks to this node, tell the peers, and write the ownership record
 *   `unserve`         route no callbacks to this node
 *   `record`          write the ownership record again
 *   `record-release`  write the release
 *   `took`, `paused`  measure a take-over or a pause
 *   `problem`         log that a load or a take-over failed
 *   `left-to-owner`   log that the shard stays with its owner for lack of a key filter
 */
export type Effect =
  | { readonly type: 'command' | 'notify'; readonly move: Move }
  | { readonly type: 'look' }
  | { readonly type: 'want'; readonly to: string; readonly sequence: number }
  | { readonly type: 'offer'; readonly to: string; readonly head: Head; readonly untilMs: number }
  | { readonly type: 'serve'; readonly epoch: number }
  | { readonly type: 'unserve' }
  | { readonly type: 'record'; readonly epoch: number }
  | { readonly type: 'record-release'; readonly epoch: number; readonly isRepeated: boolean }
  | { readonly type: 'took'; readonly how: 'handed-over' | 'taken'; readonly tookMs: number; readonly epoch: number }
  | { readonly type: 'paused'; readonly pausedMs: number; readonly isHanded: boolean }
  | { readonly type: 'problem'; readonly reason: string }
  | { readonly type: 'left-to-owner' };
