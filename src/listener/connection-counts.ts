/** Listeners, as metrics and the log call them. */
export type ListenerName = 'callbacks' | 'operator-api' | 'health' | 'nodes';

/** Reasons to close a connection at its beginning: its address is not allowed, or there are too many and none rests. */
export type RefusedBecause = 'address' | 'full';
/** Reasons to close an older connection for a newcomer: it has asked nothing, or rests. */
export type EvictedBecause = 'silent' | 'idle';

/** Connections of one listener: taken, refused, evicted. */
export class ConnectionCounts {
  accepted = 0;
  readonly refused: Record<RefusedBecause, number> = { address: 0, full: 0 };
  readonly evicted: Record<EvictedBecause, number> = { silent: 0, idle: 0 };
  /** Connections of the callback listener that ended before anything readable was asked. */
  unread = 0;
  /** Frames on links of nodes that no node had sent. */
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
