import { connectTo } from './redis-client.js';

const SCANNED_AT_ONCE = 1000;

/** Removes all keys that begin with this, and no other, in steps that leave Redis to others meanwhile. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = connectTo(url);
  try {
    for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${literal(prefix)}*`, 'COUNT', SCANNED_AT_ONCE);
      // One by one, so that a shard's long log is freed by a thread of Redis' own, also where keys have several slots.
      for (const key of keys) await redis.unlink(key);
      cursor = next;
    }
  } finally {
    redis.disconnect();
  }
}

/** As a pattern that only it matches. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}
