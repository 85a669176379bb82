import { CALLBACKS } from '../callback/callbacks.js';
import { FAILURES } from '../callback/failures.js';
import type { OperatorCommand } from '../wallet/command.js';
import type { Query } from '../wallet/query.js';
import type { WireRequest } from '../worker/protocol.js';

const QUERIES: { readonly [Type in Query['type']]: true } = {
  'read-player': true,
  'read-tallies': true,
  'list-transactions': true,
  'list-operations': true,
  'scan-transactions': true,
  'scan-operations': true,
  'list-players': true,
  'list-archivable': true,
  'find-players': true,
  'find-id': true,
};

const COMMANDS: { readonly [Type in OperatorCommand['type']]: true } = {
  'create-player': true,
  'import-player': true,
  deposit: true,
  withdraw: true,
  correct: true,
  'approve-request': true,
  'refuse-request': true,
  'expire-request': true,
  'block-player': true,
  'unblock-player': true,
  'set-session': true,
  'end-session': true,
  forget: true,
  archive: true,
  'restore-rounds': true,
};

/** False for a callback endpoint that only a newer walletd knows. */
export function isKnownEndpoint(endpoint: string): boolean {
  return Object.hasOwn(CALLBACKS, endpoint);
}

/** False for a failure that only a newer walletd knows. */
export function isKnownAnswer(answer: { readonly type: string; readonly failure?: string }): boolean {
  return answer.type !== 'failed' || Object.hasOwn(FAILURES, answer.failure ?? '');
}

/** False for a request that only a newer walletd knows. A shard must never receive a type that it cannot handle. */
export function isKnown(request: WireRequest): boolean {
  return 'command' in request
    ? Object.hasOwn(COMMANDS, request.command.type)
    : Object.hasOwn(QUERIES, request.query.type);
}
