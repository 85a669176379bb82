import {
  both,
  type Is,
  isAnything,
  isBoolean,
  isBytes,
  isCount,
  isNumber,
  isText,
  listOf,
  oneOf,
  optional,
  shape,
} from '../base/shape.js';
import { CALLBACKS } from '../callback/callbacks.js';
import { FAILURES } from '../callback/failures.js';
import type { WireRequest, WireResult } from '../threads/protocol.js';
import type { OperatorCommand } from '../wallet/command.js';
import type { Query } from '../wallet/query.js';

const isUnits: Is = Number.isSafeInteger;
const isAddressed = shape({ shard: isCount, deadlineMs: isNumber });
const isPlayer = shape({ username: isText });
const isOperation = shape({ username: isText, id: isText });
const isPaged = shape({ from: isNumber, limit: isNumber });
const isRound = shape({ productId: isText, roundId: isText });
const isPlace = shape({ position: isNumber, rounds: isNumber });

const QUERIES: { readonly [Type in Query['type']]: Is } = {
  'read-player': isPlayer,
  'read-tallies': isAnything,
  'list-transactions': shape({ username: isText, limit: isNumber }),
  'list-operations': shape({ username: isText, limit: isNumber }),
  'scan-transactions': shape({ state: isText, createdBeforeMs: isNumber, limit: isNumber }),
  'scan-operations': both(isPaged, shape({ wanted: shape({ fromMs: isNumber, beforeMs: isNumber }) })),
  'list-players': isPaged,
  'list-archivable': shape({ from: isPlace, count: isNumber, beforeMs: isNumber }),
  'find-players': both(isPaged, shape({ prefix: isText })),
  'find-id': both(isPaged, shape({ id: isText })),
};

const isMoved = both(isOperation, shape({ amount: isUnits }));
const COMMANDS: { readonly [Type in OperatorCommand['type']]: Is } = {
  'create-player': shape({ username: isText, currency: isText }),
  'import-player': both(isOperation, shape({ currency: isText, balance: isUnits })),
  deposit: isMoved,
  withdraw: isMoved,
  correct: both(isMoved, shape({ reason: isText, allowNegativeBalance: isBoolean })),
  'approve-request': isOperation,
  'refuse-request': isOperation,
  'expire-request': isOperation,
  'block-player': isPlayer,
  'unblock-player': isPlayer,
  'set-session': shape({ username: isText, session: shape({ digest: isText, endMs: optional(isNumber) }) }),
  'end-session': isPlayer,
  forget: shape({ username: isText, beforeMs: isNumber }),
  archive: shape({ username: isText, rounds: listOf(isRound), beforeMs: isNumber }),
  'restore-rounds': shape({ username: isText, images: listOf(isBytes) }),
};
const isOperator = optional(shape({ name: isText, address: isText }));

const isList = listOf(isAnything);
const isFoundPlayer = shape({ username: isText, currency: isText, balance: isUnits, openStakes: isText });
const RESULTS: { readonly [Type in WireResult['type']]: Is } = {
  accepted: shape({ before: isUnits, after: isUnits, isRepeat: isBoolean }),
  failed: shape({ failure: isText }),
  tallies: shape({ tallies: shape({}) }),
  player: shape({ player: optional(isFoundPlayer) }),
  transactions: shape({ page: optional(shape({ items: isList })) }),
  operations: shape({ page: optional(shape({ items: isList })) }),
  scan: shape({ items: isList }),
  'operation-scan': shape({ items: isList }),
  players: shape({ players: isList }),
  archivable: shape({ players: isList, next: isPlace }),
  'found-players': shape({ players: isList }),
  'found-ids': shape({ hits: isList, players: isNumber }),
};

const isQuery = oneOf(QUERIES);
const isCommand = oneOf(COMMANDS);

/** False for a callback endpoint that only a newer walletd knows. */
export function isKnownEndpoint(endpoint: string): boolean {
  return Object.hasOwn(CALLBACKS, endpoint);
}

/** False for a failure that only a newer walletd knows. */
export function isKnownAnswer(answer: { readonly type: string; readonly failure?: string }): boolean {
  return answer.type !== 'failed' || Object.hasOwn(FAILURES, answer.failure ?? '');
}

/** False for a result that only a newer walletd gives, or that lacks a field which an older walletd did not know. */
export const isKnownResult = oneOf(RESULTS);

/**
 * False for a request that only a newer walletd sends. A shard must never receive a type that it cannot handle, or a
 * command without a field that the decision reads.
 */
export function isKnown(request: WireRequest): boolean {
  if (!isAddressed(request)) return false;
  if (!('command' in request)) return isQuery(request.query);
  return isCommand(request.command) && isOperator((request.command as { readonly by?: unknown }).by);
}
