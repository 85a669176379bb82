import type { ShardState } from '../../src/engine/shard.js';
import { formatLsn, tryLsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import type { Effect } from '../../src/replica/effect.js';
import type { Facts } from '../../src/replica/facts.js';
import { tagOf } from '../../src/replica/tag-of.js';
import type { Move } from '../../src/threads/shards.js';

/** The shard of all stories. */
export const SHARD = 3;

/** The tag of the node with a one-letter name; node `a` is the one whose replica the stories show. */
export const tagNamed = (name: string) => name.repeat(8);
export const nameOf = (tag: string) => tag.slice(0, 1);

/** Reads `b:1-5`: an entry of node b. */
export function headFrom(text: string): Head {
  const [name = '', lsn = ''] = text.split(':');
  const found = tryLsn(lsn);
  if (found === undefined) throw new Error(`${text} is not a head such as b:1-5`);
  return { lsn: found, nonce: `${tagNamed(name)}00000000`, checksum: found.sequence };
}

const headText = (head: Head) => `${nameOf(tagOf(head))}:${formatLsn(head.lsn)}`;

/** A node that should serve the shard, has nothing of it, and has read nothing yet. */
export function quietFacts(local: ShardState = 'away'): Facts {
  return {
    nowMs: 0,
    me: tagNamed('a'),
    isPlanned: true,
    role: 'owner',
    local: { state: local, head: undefined, pendingAppendMs: 0, lacksNames: false, reason: undefined },
    holder: 'unknown',
    head: undefined,
    holderName: 'b',
    isLogIdle: false,
    acknowledged: undefined,
    recorded: undefined,
    newOwner: undefined,
    hasOtherTaker: false,
    isUnserved: false,
    isOwnerSuspect: false,
    loadsOwn: false,
    isClockSane: true,
    mayHandOver: true,
  };
}

/** An effect as a line of a story. */
export function effectText(effect: Effect): string {
  switch (effect.type) {
    case 'command':
      return moveText(effect.move);
    case 'notify':
      return `${moveText(effect.move)} (result ignored)`;
    case 'look':
      return 'read the head of the log';
    case 'want':
      return `ask ${nameOf(effect.to)} for the shard, read up to ${effect.sequence}`;
    case 'offer':
      return `offer the shard to ${nameOf(effect.to)} at ${headText(effect.head)} until ${effect.untilMs} ms on its clock`;
    case 'serve':
      return `serve in epoch ${effect.epoch}: route callbacks here, tell the peers, record it`;
    case 'unserve':
      return 'route no callbacks here';
    case 'record':
      return `record the ownership of epoch ${effect.epoch} again`;
    case 'record-release':
      return `record the release of epoch ${effect.epoch}${effect.isRepeated ? ' again' : ''}`;
    case 'took':
      return `measure: ${effect.how} in ${effect.tookMs} ms`;
    case 'paused':
      return `measure: paused for ${effect.pausedMs} ms, ${effect.isHanded ? 'handed over' : 'kept'}`;
    case 'problem':
      return `warn: ${effect.reason}`;
    case 'left-to-owner':
      return 'warn: the shard stays with its owner';
  }
}

function moveText(move: Move): string {
  if (move.type === 'stop') return `thread: stop (${move.reason})`;
  if (move.type !== 'take') return `thread: ${move.type}`;
  const over = move.over === undefined ? 'any head' : headText(move.over);
  return `thread: take over ${over}`;
}
