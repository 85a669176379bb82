const PRIME = 0x01000193;

/** Hash of bytes within a space of ids, to 32 unsigned bits. In memory only: nothing stored depends on it. */
export function hashKey(space: number, bytes: Uint8Array, start: number, end: number): number {
  let hash = space ^ 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), PRIME);
  return finish(hash);
}

/** The space of ids of one player, or of one product of this player. */
export function spaceOf(player: number, product: number): number {
  return Math.imul(player, 0x9e3779b1) ^ Math.imul(product, 0x85ebca77);
}

/** The space of ids of one namespace within another space; that of namespace 0 is the other one itself. */
export function spaceWithin(space: number, namespace: number): number {
  return space ^ Math.imul(namespace, 0xc2b2ae3d);
}

/** MurmurHash3's finalizer: every bit depends on every unit. */
function finish(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
