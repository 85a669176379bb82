/**
 * What has to have happened to a write before it is told:
 *
 *   fsync       it is on the disk of the server: Redis with `appendfsync always` answers after the fsync
 *   os          the server's system has it: up to a second can be lost with the machine
 *   replicas    so many replicas have it
 */
export type Durability =
  | { readonly type: 'fsync' }
  | { readonly type: 'os' }
  | { readonly type: 'replicas'; readonly count: number };

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
