import { connectTo } from './redis-client.js';

const SCANNED_AT_ONCE = 1000;

/** Removes all keys with this prefix and no others, in steps that keep Redis responsive. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = connectTo(url);
  try {
    for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${literal(prefix)}*`, 'COUNT', SCANNED_AT_ONCE);
      // Unlink one key at a time, because keys may belong to different slots. A background thread in Redis frees the
      // memory of a shard's long log.
      for (const key of keys) await redis.unlink(key);
      cursor = next;
    }
  } finally {
    redis.disconnect();
  }
}

/** Escapes text so that, as a pattern, it matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}
