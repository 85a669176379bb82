import { connectTo } from './redis-client.js';

const SCANNED_AT_ONCE = 1000;

/** Removes all keys with this prefix, and no other, in steps that leave Redis responsive to others. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = connectTo(url);
  try {
    for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${literal(prefix)}*`, 'COUNT', SCANNED_AT_ONCE);
      // One by one: a background thread of Redis then frees a shard's long log, and keys may have several slots.
      for (const key of keys) await redis.unlink(key);
      cursor = next;
    }
  } finally {
    redis.disconnect();
  }
}

/** Escapes a text as a pattern that matches only the text itself. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}
