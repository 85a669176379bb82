import { Queue } from '../base/queue.js';
import type { Request } from '../ports/request.js';
import type { ArchivedPart } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';

/** The archive's records that a request needs. */
export type Found = ArchivedPart;

/** Result of a lookup; `unknown` if the archive gave no usable answer. */
type Outcome = Found | 'unknown';

/** A player with a pending lookup, and the requests for this player that wait for it, in order. */
export interface WaitingPlayer {
  readonly username: string;
  readonly requests: Queue<Request>;
  /**
   * The request that caused the lookup. If it expires before the result arrives, a different request is first in the
   * queue.
   */
  asking: Request | undefined;
  /** The result for `asking`; undefined while the lookup is pending. */
  found: Outcome | undefined;
}

/** Requests that wait for the archive. Each player's requests stay in order and do not delay those of other players. */
export class WaitingPlayers {
  /** Number of waiting requests. */
  length = 0;
  private readonly players = new Map<string, WaitingPlayer>();
  private readonly ready = new Queue<WaitingPlayer>();

  /** `most` limits both the number of waiting requests and the number of players with lookups. */
  constructor(
    private readonly most: number,
    private readonly onReady: () => void,
  ) {}

  /** True when the limit is reached. */
  get isFull(): boolean {
    return this.length >= this.most || this.players.size >= this.most;
  }

  findPlayer(username: string): WaitingPlayer | undefined {
    return this.players.get(username);
  }

  /** Starts waiting. `found` is the lookup for the player's first request. */
  begin(username: string, request: Request, found: Promise<Found>): void {
    const player: WaitingPlayer = { username, requests: new Queue(), asking: undefined, found: undefined };
    this.players.set(username, player);
    this.add(player, request);
    this.await(player, found);
  }

  add(player: WaitingPlayer, request: Request): void {
    player.requests.push(request);
    this.length++;
  }

  /** Makes the player wait again, because the player's next request needs a lookup of its own. */
  await(player: WaitingPlayer, found: Promise<Found>): void {
    player.asking = player.requests.peek();
    player.found = undefined;
    const outcome: Promise<Outcome> = found.catch(() => 'unknown');
    void outcome.then((part) => {
      if (this.players.get(player.username) !== player) return;
      player.found = part;
      this.ready.push(player);
      this.onReady();
    });
  }

  /** The next player with a complete lookup. */
  nextReady(): WaitingPlayer | undefined {
    return this.ready.peek();
  }

  /** Removes and returns the next request of a player whose lookup is complete. */
  shift(player: WaitingPlayer): Request | undefined {
    const request = player.requests.shift();
    if (request !== undefined) this.length--;
    return request;
  }

  /**
   * Ends the turn of the first player whose lookup is complete. That player either waits again or has no requests left.
   */
  leaveReady(isDone: boolean): void {
    const player = this.ready.shift();
    if (isDone && player !== undefined) this.players.delete(player.username);
  }

  /**
   * Answers the expired requests at the head of each player's queue. If the lookup for such a request is still pending,
   * its result is ignored.
   */
  dropLate(nowMs: number, answer: BusyAnswer): void {
    for (const player of this.players.values()) {
      if (player.found !== undefined) continue;
      while ((player.requests.peek()?.deadlineMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
        this.shift(player)?.replier.reply(answer);
      }
    }
  }

  dropAll(answer: BusyAnswer): void {
    const players = [...this.players.values()];
    this.players.clear();
    while (this.ready.shift() !== undefined);
    this.length = 0;
    for (const { requests } of players) {
      for (let request = requests.shift(); request !== undefined; request = requests.shift()) {
        request.replier.reply(answer);
      }
    }
  }
}
