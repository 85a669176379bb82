import type { Head } from '../ports/wal.js';
import type { Move, MoveResult } from '../threads/shards.js';

/**
 * An input of a replica.
 *
 *   `tick`      time has passed, or something around the replica may have changed
 *   `result`    the running command has ended
 *   `wanted`    the node `by` requests the shard, and has read its log up to `sequence`
 *   `offered`   the old owner has paused at `head`, which this node may fence before `untilMs`
 *   `owned`     the node `by` has served the shard since the fence of this epoch
 *   `fenced`    an append found another owner's fence
 *   `recorded`  the registry was read: records that it lacks are written again
 *   `not-sent`  the offer could not be sent, because the link to the new owner is down
 *   `confirm`   other nodes may have taken the shard unnoticed
 *   `end`       this process ends
 */
export type Input =
  | { readonly type: 'tick' }
  | { readonly type: 'result'; readonly of: Move['type']; readonly result: MoveResult }
  | { readonly type: 'wanted'; readonly by: string; readonly sequence: number }
  | { readonly type: 'offered'; readonly head: Head; readonly untilMs: number }
  | { readonly type: 'owned'; readonly by: string; readonly epoch: number }
  | { readonly type: 'fenced' }
  | { readonly type: 'recorded' }
  | { readonly type: 'not-sent' }
  | { readonly type: 'confirm' }
  | { readonly type: 'end' };

export const INPUT_TYPES = [
  'tick',
  'result',
  'wanted',
  'offered',
  'owned',
  'fenced',
  'recorded',
  'not-sent',
  'confirm',
  'end',
] as const satisfies readonly Input['type'][];
