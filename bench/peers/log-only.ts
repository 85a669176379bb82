import { type Database, open } from 'lmdb';
import { connectTo } from '../support/redis-client.js';

/** Appends once to one log. The entry is durable when the promise resolves. */
export type AppendToLog = (bytes: Buffer) => Promise<unknown>;

/** Minimum cost of a durable answer on this store: no head comparison, no checksum, no recovery. */
export function logOnlyAt(place: string, key: string): AppendToLog {
  if (place.startsWith('lmdb:')) return inLmdb(place.slice('lmdb:'.length));
  const client = connectTo(place);
  return (bytes) => client.xadd(key, '*', 'd', bytes);
}

function inLmdb(path: string): AppendToLog {
  const log: Database<Buffer, number> = open({ path, encoding: 'binary', overlappingSync: false });
  let sequence = 0;
  return (bytes) => log.put(sequence++, bytes);
}
