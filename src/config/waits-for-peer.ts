import type { Settings } from './schema.js';

/** Whether an answer waits until another node has a copy of the entries it acknowledges. */
export function waitsForPeer({ durability }: Pick<Settings, 'durability'>): boolean {
  return durability === 'peers:1';
}
