import type { Redis } from 'ioredis';

/**
 * What must have happened to a write before it is acknowledged:
 *
 *   fsync       it is on the disk of the server: Redis with `appendfsync always` answers after the fsync
 *   os          the server's operating system has it: up to a second can be lost with the machine
 *   replicas    this many replicas have it
 */
export type Durability =
  | { readonly type: 'fsync' }
  | { readonly type: 'os' }
  | { readonly type: 'replicas'; readonly count: number };

/** How long a write waits for its replicas; then its outcome is unknown, and it is retried with the same bytes. */
const WAIT_MS = 1000;

/** The answer to the command just sent on this connection, once it is as durable as the settings ask. */
export async function confirmed<T>(client: Redis, durability: Durability, sent: Promise<T>): Promise<T> {
  if (durability.type !== 'replicas') return await sent;
  const waited = client.call('WAIT', durability.count, WAIT_MS) as Promise<number>;
  const [answer, replicas] = await Promise.all([sent, waited]);
  if (replicas < durability.count) throw new Error(`${replicas} of ${durability.count} replicas have it`);
  return answer;
}

/** `fsync`, `os` or `replicas:2`; undefined for anything else. */
export function maybeDurability(text: string): Durability | undefined {
  if (text === 'fsync' || text === 'os') return { type: text };
  const count = /^replicas:([1-9])$/.exec(text)?.[1];
  return count === undefined ? undefined : { type: 'replicas', count: Number(count) };
}

/** For people. */
export function describeDurability(durability: Durability): string {
  switch (durability.type) {
    case 'fsync':
      return 'fsync: every answer waits for an fsync of Redis';
    case 'os':
      return 'os: up to a second of answers can be lost with the machine of Redis';
    case 'replicas':
      return `replicas:${durability.count}: every answer waits for ${durability.count} replica(s)`;
  }
}
