/** A movement of money that waits for a second operator. */
export interface PendingRequest {
  /** The name of the operator who made the request. */
  readonly by: string | undefined;
  readonly expiresMs: number;
}

/**
 * A shard's undecided requests, by player row and id. The wallets hold the same requests; this index counts and finds
 * them without visiting all players.
 */
export class PendingRequests {
  private readonly byPlayer = new Map<number, Map<string, PendingRequest>>();

  add(player: number, id: string, request: PendingRequest): void {
    const mine = this.byPlayer.get(player) ?? new Map<string, PendingRequest>();
    mine.set(id, request);
    this.byPlayer.set(player, mine);
  }

  remove(player: number, id: string): void {
    const mine = this.byPlayer.get(player);
    mine?.delete(id);
    if (mine?.size === 0) this.byPlayer.delete(player);
  }

  has(player: number): boolean {
    return this.byPlayer.has(player);
  }

  get players(): readonly number[] {
    return [...this.byPlayer.keys()];
  }

  /** Number of requests that can still be approved: in the whole shard, and by one operator. */
  count(by: string | undefined, nowMs: number): { readonly all: number; readonly own: number } {
    let all = 0;
    let own = 0;
    for (const { request } of this.entries()) {
      if (request.expiresMs <= nowMs) continue;
      all++;
      if (request.by === by) own++;
    }
    return { all, own };
  }

  expired(nowMs: number): readonly { readonly player: number; readonly id: string }[] {
    return [...this.entries()].filter(({ request }) => request.expiresMs <= nowMs);
  }

  private *entries(): Generator<{ readonly player: number; readonly id: string; readonly request: PendingRequest }> {
    for (const [player, mine] of this.byPlayer) {
      for (const [id, request] of mine) yield { player, id, request };
    }
  }
}
