import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/**
 * The condition for acknowledging a write:
 *
 *   fsync       the write is on the server's disk: Redis with `appendfsync always` answers after the fsync
 *   os          the server's operating system has the write: up to a second can be lost with the machine
 *   replicas    this many replicas have the write
 *   synced      the write is on the disks of the server and of this many replicas; Redis 7.2 or later
 */
export type Durability =
  | { readonly type: 'fsync' }
  | { readonly type: 'os' }
  | { readonly type: 'replicas' | 'synced'; readonly count: number };

/**
 * Maximum time that a write waits for its replicas. After that, the write's outcome is unknown, and it is retried with
 * the same bytes.
 */
const WAIT_MS = 1000;
/**
 * Interval at which replicas are queried again whether they have synced a write. A replica that is queried before its
 * fsync reports the write only with its next answer; after a single query, that takes up to a second.
 */
const SYNC_POLL_MS = 2;

/** Number of replicas that a write waits for. */
export function waitsFor(durability: Durability): number {
  return 'count' in durability ? durability.count : 0;
}

/**
 * Resolves with the answer to the command just sent on this connection, once it is as durable as the settings require.
 */
export async function confirmed<T>(client: Redis, durability: Durability, sent: Promise<T>): Promise<T> {
  if (!('count' in durability)) return await sent;
  const { count, type } = durability;
  // Do not send WAITAOF together with the write: both would reach the replicas together, before their fsync.
  const [answer, has] =
    type === 'synced'
      ? [await sent, await syncedBy(client, count)]
      : await Promise.all([sent, copiedTo(client, count)]);
  if (has < count) throw new Error(`${has} of ${count} replicas have it`);
  return answer;
}

async function copiedTo(client: Redis, count: number): Promise<number> {
  return (await client.call('WAIT', count, WAIT_MS)) as number;
}

/**
 * Number of replicas that have synced the last write of this connection; 0 if the server itself has not. Each WAITAOF
 * makes the server ask its replicas. Its timeout of 1 ms ends at the next event, at the latest when the next WAITAOF
 * arrives; an idle Redis would notice it after up to 100 ms.
 */
async function syncedBy(client: Redis, count: number): Promise<number> {
  const endMs = performance.now() + WAIT_MS;
  let has = 0;
  const ask = async () => {
    const [here, there] = (await client.call('WAITAOF', 1, count, 1)) as [number, number];
    has = here === 1 ? there : 0;
  };
  for (;;) {
    const tick = delay(SYNC_POLL_MS);
    const asked = ask();
    await Promise.race([asked, tick]);
    // An earlier WAITAOF may already have returned the answer, and the connection may end before the last one is
    // answered.
    asked.catch(() => {});
    if (has >= count || performance.now() >= endMs) return has;
    await tick;
  }
}

/** Parses `fsync`, `os`, `replicas:2` or `synced:2`; undefined for any other text. */
export function parseDurability(text: string): Durability | undefined {
  if (text === 'fsync' || text === 'os') return { type: text };
  const [, type, count] = /^(replicas|synced):([1-9])$/.exec(text) ?? [];
  return count === undefined ? undefined : { type: type as 'replicas' | 'synced', count: Number(count) };
}

/** A human-readable description. */
export function describeDurability(durability: Durability): string {
  switch (durability.type) {
    case 'fsync':
      return 'fsync: every answer waits for an fsync of Redis';
    case 'os':
      return 'os: if the machine of Redis fails, up to a second of answers can be lost';
    case 'replicas':
      return `replicas:${durability.count}: every answer waits for ${durability.count} replica(s)`;
    case 'synced':
      return `synced:${durability.count}: every answer waits for an fsync of Redis and of ${durability.count} replica(s)`;
  }
}
