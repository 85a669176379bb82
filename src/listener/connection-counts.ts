/** Names of the listeners in metrics and the log. */
export type ListenerName = 'callbacks' | 'operator-api' | 'health' | 'nodes';

/** Reasons to close a connection at its beginning: a forbidden address, or too many connections without an idle one. */
export type RefusedBecause = 'address' | 'full';
/** Reasons to close an older connection for a newcomer: it is silent or idle. */
export type EvictedBecause = 'silent' | 'idle';

/** Connections of one listener: accepted, refused, evicted. */
export class ConnectionCounts {
  accepted = 0;
  readonly refused: Record<RefusedBecause, number> = { address: 0, full: 0 };
  readonly evicted: Record<EvictedBecause, number> = { silent: 0, idle: 0 };
  /** Connections of the callback listener that ended without a readable request. */
  unread = 0;
  /** Frames on cluster links that no node had sent. */
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
