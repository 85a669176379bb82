import type { Lsn } from '../ports/lsn.js';
import { parseLsns } from '../tools/point-in-time.js';
import { ToolError } from '../tools/store-reader.js';

/** The address of an entry in a store. */
export interface EntryAddress {
  readonly shard: number;
  readonly lsn: Lsn;
}

/** Parses `SHARD:LSN`. Throws a `ToolError` that describes the mistake. */
export function parseEntryAddress(text: string): EntryAddress {
  const [[shard, lsn] = [], ...others] = parseLsns(text);
  if (shard === undefined || lsn === undefined || others.length > 0) throw new ToolError('one entry is expected');
  return { shard, lsn };
}
