import { InvalidArgumentError } from 'commander';
import { type Lsn, maybeLsn } from '../shard/lsn.js';

/** An entry of a store. */
export interface Place {
  readonly shard: number;
  readonly lsn: Lsn;
}

/** Throws what commander shows when the argument is none. */
export function parsePlace(text: string): Place {
  const [, shard, place = ''] = /^(\d{1,4}):(.+)$/.exec(text) ?? [];
  const lsn = maybeLsn(place);
  if (lsn === undefined) throw new InvalidArgumentError(`"${text}" is not SHARD:EPOCH-SEQUENCE, such as 2:1-4.`);
  return { shard: Number(shard), lsn };
}
