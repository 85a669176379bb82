import { InvalidArgumentError } from 'commander';
import type { Lsn } from '../shard/log/lsn.js';
import { parsePlaces } from '../tools/restore/point-in-time.js';

/** An entry of a store. */
export interface Place {
  readonly shard: number;
  readonly lsn: Lsn;
}

/** Throws what commander shows when the argument is none. */
export function parsePlace(text: string): Place {
  const [[shard, lsn] = [], ...others] = orInvalid(parsePlaces, text);
  if (shard === undefined || lsn === undefined || others.length > 0) {
    throw new InvalidArgumentError('One place is asked for.');
  }
  return { shard, lsn };
}

/** What a reader of arguments throws, as commander shows it. */
export function orInvalid<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
}
