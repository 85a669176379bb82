import type { OperationView } from '../wallet/queries/list-operations.js';
import { type AuditItem, type AuditPlace, firstOf, type WantedOperations } from '../wallet/queries/scan-operations.js';
import type { OperatorService } from './admin-deps.js';
import { Problem, problemOf } from './problem.js';

const PAGE = 1000;
/** A limit above the number of hits that any turn of a scan can have. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Scans all players in memory and yields their operations unsorted. Each turn yields its first `limit` operations. */
export async function* scanOperations(
  service: OperatorService,
  wanted: WantedOperations,
  after: AuditPlace | undefined = undefined,
  limit = ALL,
  isWanted: () => boolean = () => true,
): AsyncGenerator<readonly AuditItem[]> {
  for (let shard = 0; shard < service.shardCount; shard++) {
    for (let from: number | undefined = 0; from !== undefined; ) {
      if (!isWanted()) throw new Problem(503, 'the server is shutting down', 'shutting-down');
      const result = await service.askShard(shard, { type: 'scan-operations', wanted, after, from, limit });
      if (result.type === 'failed') throw problemOf(result.failure);
      if (result.type !== 'operation-scan') throw new Error('a scan answers a scan');
      yield result.items;
      from = result.next;
    }
  }
}

/** One page of operator actions on players, newest first, and the position where the next page starts. */
export async function listOperations(
  service: OperatorService,
  wanted: WantedOperations,
  after: AuditPlace | undefined,
  limit: number,
  isWanted: () => boolean,
): Promise<{ readonly items: readonly AuditItem[]; readonly next: AuditPlace | undefined }> {
  let found: readonly AuditItem[] = [];
  // Request one operation more than the page holds, to find out whether there is a next page.
  for await (const items of scanOperations(service, wanted, after, limit + 1, isWanted)) {
    if (items.length > 0) found = firstOf([...found, ...items], limit + 1);
  }
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? items.at(-1)?.place : undefined };
}

/** An operation, with the currency of its player. */
export interface KnownOperation extends OperationView {
  readonly currency: string;
}

/** The operation with this ID in the player's wallet, if the wallet still remembers it. */
export async function findOperation(
  service: OperatorService,
  username: string,
  id: string,
): Promise<KnownOperation | undefined> {
  for (let after: { timeMs: number; shown: number } | undefined; ; ) {
    const result = await service.ask({ type: 'list-operations', username, limit: PAGE, after });
    if (result.type === 'failed') throw problemOf(result.failure);
    if (result.type !== 'operations' || result.page === undefined) return undefined;
    const found = result.page.items.find((operation) => operation.id === id);
    if (found !== undefined) return { ...found, currency: result.page.currency };
    if (result.page.next === undefined) return undefined;
    after = result.page.next;
  }
}
