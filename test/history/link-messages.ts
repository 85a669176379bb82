import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { ReplyColumns } from '../../src/threads/columns.js';

const lsn = { epoch: 3, sequence: 1042 };
const head = { lsn, nonce: '0123456789abcdef', checksum: 0x9b1deb4d };

const replies = new ReplyColumns();
replies.push(7, { answer: { type: 'accepted', before: 10, after: 0, isRepeat: false }, body: '{}' });
replies.push(8, {
  answer: { type: 'failed', failure: 'insufficient-balance' },
  body: '',
  turn: { startedMs: 1.5, endedMs: 2 },
});

/**
 * One message of each type between members, with every field. The file does not compile until a new type is added here.
 */
export const LINK_MESSAGES: { readonly [Type in PeerMessage['type']]: Extract<PeerMessage, { readonly type: Type }> } =
  {
    pulse: { type: 'pulse', clockMs: 1.5, nowMs: 1.7e12, serving: [{ shard: 0, head }], stuck: [5], seesTable: true },
    calls: {
      type: 'calls',
      callbacks: {
        firstId: 7,
        endpoints: ['placeBets'],
        texts: ['{}'],
        deadlinesMs: [1.5],
        areSigned: [true],
        traced: [0],
      },
    },
    replies: { type: 'replies', replies: { ...replies } as ReplyColumns },
    asks: {
      type: 'asks',
      requests: [
        { id: 1, shard: 0, deadlineMs: 1.5, query: { type: 'read-player', username: 'ann' } },
        { id: 2, shard: 0, deadlineMs: 1.5, command: { type: 'block-player', username: 'ann', by: undefined } },
      ],
    },
    results: { type: 'results', ids: [1], results: [{ type: 'failed', failure: 'user-not-found' }] },
    want: { type: 'want', shard: 0, sequence: 1042 },
    take: { type: 'take', shard: 0, head, untilMs: 1.5 },
    own: { type: 'own', shard: 0, epoch: 3 },
    look: { type: 'look' },
    snap: { type: 'snap', id: 1 },
    snapped: { type: 'snapped', id: 1, results: [{ type: 'unchanged', shard: 0 }] },
    out: { type: 'out', signedOut: [{ name: 'eve', untilMs: 1.7e12, sessions: [['a', 1.7e12]] }] },
    unknown: { type: 'unknown', of: 'foresee', id: 1 },
  };
