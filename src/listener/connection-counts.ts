/** Listener names in metrics and the log. */
export type ListenerName = 'callbacks' | 'operator-api' | 'health' | 'nodes';

/**
 * Reasons to close a new connection: its address is not allowed, or there are too many connections and none is idle.
 */
export type RefusedBecause = 'address' | 'full';
/** Reasons to close an older connection to make room for a new one: it is silent or idle. */
export type EvictedBecause = 'silent' | 'idle';

/** Connections of one listener: accepted, refused, evicted. */
export class ConnectionCounts {
  accepted = 0;
  readonly refused: Record<RefusedBecause, number> = { address: 0, full: 0 };
  readonly evicted: Record<EvictedBecause, number> = { silent: 0, idle: 0 };
  /** Callback listener connections that ended without a valid request. */
  unread = 0;
  /** Frames on cluster links that were not sent by a node. */
  forgedFrames = 0;
}

export type CountsByListener = Readonly<Record<ListenerName, ConnectionCounts>>;

export function newCounts(): CountsByListener {
  return {
    callbacks: new ConnectionCounts(),
    'operator-api': new ConnectionCounts(),
    health: new ConnectionCounts(),
    nodes: new ConnectionCounts(),
  };
}
