import {
  both,
  columns,
  type Is,
  isAnything,
  isBoolean,
  isCount,
  isNumber,
  isText,
  isTyped,
  listOf,
  oneOf,
  optional,
  pairOf,
  shape,
} from '../base/shape.js';
import type { PeerMessage } from './peer-protocol.js';

/*
 * Shapes of the messages between members. A member of a newer release may send types and fields that this one does not
 * know, and leave out fields that it no longer needs. Unknown fields are ignored. A message that lacks a field which
 * this release needs is treated like a message of an unknown type.
 */
const isLsn = shape({ epoch: isCount, sequence: isCount });
const isHead = shape({ lsn: isLsn, nonce: isText, checksum: isCount });
const isTurn = shape({ startedMs: isNumber, endedMs: isNumber });
const isSignedOut = shape({ name: isText, untilMs: isNumber, sessions: listOf(pairOf(isText, isNumber)) });

const isCallbacks = both(
  shape({ firstId: isCount, areSigned: optional(listOf(isBoolean)), traced: listOf(isCount) }),
  columns({ endpoints: isText, texts: isText, deadlinesMs: isNumber }),
);
const isReplies = both(
  columns({
    ids: isCount,
    failures: optional(isText),
    befores: isNumber,
    afters: isNumber,
    areRepeats: isBoolean,
    bodies: isText,
  }),
  columns({ traced: isCount, turns: isTurn }),
);

const SHAPES: { readonly [Type in PeerMessage['type']]: Is } = {
  pulse: shape({
    clockMs: isNumber,
    nowMs: isNumber,
    serving: listOf(shape({ shard: isCount, head: isHead })),
    stuck: listOf(isCount),
    seesTable: isBoolean,
  }),
  calls: shape({ callbacks: isCallbacks }),
  replies: shape({ replies: isReplies }),
  // The requests are checked one at a time where they are answered (known-requests.ts).
  asks: shape({ requests: listOf(shape({ id: isCount })) }),
  results: columns({ ids: isCount, results: isTyped }),
  want: shape({ shard: isCount, sequence: isCount }),
  take: shape({ shard: isCount, head: isHead, untilMs: isNumber }),
  own: shape({ shard: isCount, epoch: isCount }),
  look: isAnything,
  snap: shape({ id: isCount }),
  snapped: shape({ id: isCount, results: listOf(shape({ type: isText, shard: isCount })) }),
  out: shape({ signedOut: listOf(isSignedOut) }),
  unknown: shape({ of: isText, id: optional(isCount) }),
};

/**
 * False for a message that only a newer walletd sends. The argument may be any value, because a peer may put anything
 * into a frame.
 */
export const isKnownMessage = oneOf(SHAPES) as (message: unknown) => message is PeerMessage;
