import type { ServerPlace } from './redirect.js';

/** Slots of one master. */
export interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly master: ServerPlace;
}

const UNKNOWN_HOST = '?';

/**
 * Parses the answer to `CLUSTER SLOTS`: a list of [first, last, [host, port, ...], ...replicas]. A server without a
 * host is at `asked`.
 */
export function slotRangesOf(reply: unknown, asked: string): SlotRange[] {
  const ranges = reply as readonly (readonly [first: number, last: number, master: readonly [string | null, number]])[];
  return ranges
    .filter(([, , [host]]) => host !== UNKNOWN_HOST)
    .map(([first, last, [host, port]]) => ({ first, last, master: { host: host || asked, port } }));
}
