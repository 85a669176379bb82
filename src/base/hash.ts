/**
 * A hash of a string to 32 unsigned bits: FNV-1a over the two bytes of each UTF-16 unit, then MurmurHash3's finalizer.
 * The finalizer makes every unit affect the low bits, which select the shard. A store's meta record contains the hash's
 * name, `HASH_NAME`. Any change to this function moves players between shards and therefore requires a new name.
 */
export function hashString(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export const HASH_NAME = 'fnv1a-utf16-fmix32';
