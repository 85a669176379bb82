import { newestTimeOf } from '../log/log-reader.js';
import { compareLsn, formatLsn, type Lsn, tryLsn } from '../ports/lsn.js';
import type { Entry } from '../ports/wal.js';
import type { Coverage, SnapshotEnd } from './coverage.js';
import { ToolError } from './store-reader.js';

/**
 * The end point of a restore: a time for all shards, or LSNs for some shards. In the latter case, all other shards are
 * restored to the end of their logs.
 */
export type At =
  | { readonly type: 'time'; readonly timeMs: number }
  | { readonly type: 'lsns'; readonly lsns: ReadonlyMap<number, Lsn> };

const ISO = /^(\d{4}-\d\d-(\d\d))[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?$/;

/** Parses the value of --at. Throws a `ToolError` that describes the mistake. */
export function parseAt(text: string): At {
  if (/^\d{1,15}$/.test(text)) return { type: 'time', timeMs: Number(text) };
  if (/^\d+:\d/.test(text)) return { type: 'lsns', lsns: parseLsns(text) };
  const [, date, day, time, zone] = ISO.exec(text) ?? [];
  if (date === undefined) {
    throw new ToolError('it is neither a time (2026-01-31T12:00:00Z, or milliseconds since 1970) nor SHARD:LSN');
  }
  if (zone === undefined) throw new ToolError('a time needs a zone: Z, or an offset such as +07:00');
  const timeMs = Date.parse(`${date}T${time}${zone}`);
  // For a shorter month, Date.parse accepts the 31st as a day of the next month.
  if (Number.isNaN(timeMs) || new Date(date).getUTCDate() !== Number(day)) {
    throw new ToolError('there is no such time');
  }
  return { type: 'time', timeMs };
}

/** Parses `SHARD:LSN,SHARD:LSN…`. Throws a `ToolError` that describes the mistake. */
export function parseLsns(text: string): Map<number, Lsn> {
  const lsns = new Map<number, Lsn>();
  for (const part of text.split(',')) {
    const [, shard, place = ''] = /^(\d{1,4}):(.*)$/.exec(part) ?? [];
    const lsn = tryLsn(place);
    if (lsn === undefined) throw new ToolError(`"${part}" is not SHARD:EPOCH-SEQUENCE, such as 2:1-4`);
    if (lsns.has(Number(shard))) throw new ToolError(`shard ${Number(shard)} is named twice`);
    lsns.set(Number(shard), lsn);
  }
  return lsns;
}

/** True if the entry, and therefore every later entry, is past `at`. */
export function isPast(at: At | undefined, entry: Entry): boolean {
  if (at === undefined) return false;
  if (at.type === 'time') return newestTimeOf(entry) > at.timeMs;
  const lsn = at.lsns.get(entry.shard);
  return lsn !== undefined && compareLsn(entry.lsn, lsn) > 0;
}

/** True if nothing in the snapshot is later than `at`. */
export function isEarlyEnough(at: At | undefined, shard: number, snapshot: SnapshotEnd): boolean {
  if (at === undefined) return true;
  if (at.type === 'time') return snapshot.timeMs <= at.timeMs;
  const lsn = at.lsns.get(shard);
  return lsn === undefined || compareLsn(snapshot.end, lsn) <= 0;
}

/** Points in time to which a shard can be restored. */
export interface Reach {
  /** True if the log still begins with its very first entry. */
  readonly isComplete: boolean;
  readonly snapshots: readonly SnapshotEnd[];
  /** The newest entry. */
  readonly end: Lsn;
}

export function reachesOf({ shards }: Coverage): Reach[] {
  return shards.map(({ head, snapshot }) => ({
    isComplete: snapshot === undefined,
    snapshots: snapshot === undefined ? [] : [snapshot],
    end: head.lsn,
  }));
}

/** Throws a `ToolError` that names the earliest possible point, if the store cannot be restored to `at`. */
export function checkReach(at: At | undefined, reaches: readonly Reach[]): void {
  if (at?.type === 'lsns') checkLsns(at.lsns, reaches);
  const short = reaches.flatMap(({ isComplete, snapshots }, shard) => {
    if (isComplete || snapshots.some((snapshot) => isEarlyEnough(at, shard, snapshot))) return [];
    const [earliest] = [...snapshots].sort((a, b) => a.timeMs - b.timeMs);
    return [{ shard, earliest }];
  });
  const nothing = short.find(({ earliest }) => earliest === undefined);
  if (nothing !== undefined) {
    throw new ToolError(`shard ${nothing.shard} has neither a complete snapshot nor the beginning of its log`);
  }
  if (short.length === 0) return;
  const earliestMs = Math.max(...short.map(({ earliest }) => earliest?.timeMs ?? 0));
  const places = short.map(({ shard, earliest }) => `${shard}:${formatLsn((earliest as SnapshotEnd).end)}`);
  const what = at?.type === 'time' ? new Date(earliestMs).toISOString() : places.join(',');
  throw new ToolError(`nothing that early is available: the earliest moment that can be restored is ${what}`);
}

function checkLsns(lsns: ReadonlyMap<number, Lsn>, reaches: readonly Reach[]): void {
  for (const [shard, lsn] of lsns) {
    const reach = reaches[shard];
    if (reach === undefined) throw new ToolError(`there is no shard ${shard}: the store has ${reaches.length}`);
    if (compareLsn(lsn, reach.end) > 0) {
      throw new ToolError(`shard ${shard} ends at ${formatLsn(reach.end)}, before ${formatLsn(lsn)}`);
    }
  }
}
