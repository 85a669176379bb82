import { Queue } from '../../base/queue.js';
import type { ArchivedPart } from '../../wallet/query.js';
import type { BusyAnswer } from '../../wallet/rejection.js';
import type { Request } from '../request.js';

/** What the archive has for a request. */
export type Found = ArchivedPart;

/** `unknown`: nobody could tell what the archive has. */
type Outcome = Found | 'unknown';

/** A player of whom something is looked for, and all that was asked of him since, in order. */
export interface WaitingPlayer {
  readonly username: string;
  readonly requests: Queue<Request>;
  /** Something is looked for on behalf of this one; by the time that it is found this may be given up, and another one first. */
  asking: Request | undefined;
  /** For `asking`; undefined while it is looked for. */
  found: Outcome | undefined;
}

/** Requests that wait for the archive: a player keeps his order, and other players do not wait for him. */
export class WaitingPlayers {
  /** Requests. */
  length = 0;
  private readonly players = new Map<string, WaitingPlayer>();
  private readonly ready = new Queue<WaitingPlayer>();

  /** `most`: requests that wait, and players that are looked for. */
  constructor(
    private readonly most: number,
    private readonly onReady: () => void,
  ) {}

  /** True when there is no room for one more. */
  get isFull(): boolean {
    return this.length >= this.most || this.players.size >= this.most;
  }

  maybePlayer(username: string): WaitingPlayer | undefined {
    return this.players.get(username);
  }

  /** Waits for what is looked for on behalf of its first request. */
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

  /** Waits once more: its next request needs something else. */
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

  /** A player who can go on. */
  maybeReady(): WaitingPlayer | undefined {
    return this.ready.peek();
  }

  /** Takes the next request of a player who can go on. */
  shift(player: WaitingPlayer): Request | undefined {
    const request = player.requests.shift();
    if (request !== undefined) this.length--;
    return request;
  }

  /** The player who is ready waits again, or not any more. */
  leaveReady(isDone: boolean): void {
    const player = this.ready.shift();
    if (isDone && player !== undefined) this.players.delete(player.username);
  }

  /** Answers those first ones whose deadline has passed. What is looked for still may come, and is for nobody then. */
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
