import { unreachable } from '../../base/assert.js';
import type { ArchivedPart, Query, QueryResult } from '../query.js';
import type { Wallets } from '../state/wallets.js';
import { findIds } from './find-id.js';
import { findPlayers } from './find-players.js';
import { listArchivable } from './list-archivable.js';
import { listOperations } from './list-operations.js';
import { listPlayers } from './list-players.js';
import { listTransactions } from './list-transactions.js';
import { readPlayer } from './read-player.js';
import { scanOperations } from './scan-operations.js';
import { scanTransactions } from './scan-transactions.js';

const NOTHING_ARCHIVED: ArchivedPart = { images: [], downTo: 0 };

/**
 * Answers from memory. The state may include changes that are not durable yet, so the shard holds back the answer until
 * they are durable. `archived` contains the archived rounds that a list of transactions needs.
 */
export function query(
  wallets: Wallets,
  question: Exclude<Query, { type: 'read-tallies' }>,
  archived: ArchivedPart = NOTHING_ARCHIVED,
): QueryResult {
  switch (question.type) {
    case 'read-player':
      return readPlayer(wallets, question.username);
    case 'list-transactions': {
      const wallet = wallets.get(question.username);
      return {
        type: 'transactions',
        page: wallet && listTransactions(wallet, question, archived),
      };
    }
    case 'list-operations': {
      const wallet = wallets.get(question.username);
      return { type: 'operations', page: wallet && listOperations(wallet, question.limit, question.after) };
    }
    case 'scan-transactions':
      return scanTransactions(wallets, question);
    case 'scan-operations':
      return scanOperations(wallets, question);
    case 'list-players':
      return listPlayers(wallets, question.from, question.limit);
    case 'list-archivable':
      return listArchivable(wallets, question);
    case 'find-players':
      return findPlayers(wallets, question);
    case 'find-id':
      return { type: 'found-ids', ...findIds(wallets, question.id, question.from, question.limit) };
    default:
      return unreachable(question);
  }
}
