import type { Clock } from '../base/clock.js';
import type { Replier } from '../base/replier.js';
import { ARCHIVE_DAMAGED, OVERLOADED, type Request, STARTING, TOO_LATE } from '../ports/request.js';
import { type Missing, missingIn, namesNewBets } from '../wallet/archiving.js';
import type { Answer } from '../wallet/decision.js';
import type { Query } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { Wallet } from '../wallet/state/wallet.js';
import type { ShardArchive } from './shard-archive.js';
import { type Found, type WaitingPlayer, WaitingPlayers } from './waiting-players.js';

/** The part of a shard that the archive gate uses. The shard executes requests that have waited at the gate. */
export interface GateClient {
  readonly isServing: boolean;
  /** True when the entry being formed is full. */
  isFull(): boolean;
  /** The player's wallet in the shard's memory. */
  findWallet(username: string): Wallet | undefined;
  carryOut(request: Request, startedMs: number, found: Found | undefined): void;
  /** Answers the request and puts the shard into the failing state. */
  failAt(request: Request, error: unknown): void;
}

type QueryRequest = Extract<Request, { type: 'query' }>;
type ListTransactions = Extract<Query, { type: 'list-transactions' }>;

interface PendingList {
  readonly request: QueryRequest;
  readonly query: ListTransactions;
  /** True if some of the player's rounds have left memory since the archive was queried. */
  isStale: boolean;
}

/** A lookup that has not begun. */
interface Needed {
  readonly username: string;
  readonly productId: string;
  readonly missing: Missing;
  readonly deadlineMs: number;
}

/** Maximum number of lists that wait for the archive. */
const LISTS_MAX = 100;
/**
 * Approximate maximum size of the rounds that one event restores. The limit keeps log entries from becoming much larger
 * than usual.
 */
const RESTORED_BYTES = 256 * 1024;

/**
 * Keeps requests that need data outside memory until the archive has answered. The rounds that the archive finds are
 * restored to the wallet before the request is decided.
 */
export class ArchiveGate {
  private readonly waiting: WaitingPlayers;
  /** Lists of transactions that wait for the archive. Other requests do not wait for them. */
  private readonly lists = new Set<PendingList>();

  /** `most` is the maximum number of waiting requests. */
  constructor(
    private readonly archive: ShardArchive,
    private readonly client: GateClient,
    private readonly clock: Clock,
    most: number,
  ) {
    this.waiting = new WaitingPlayers(most, () => this.goOn());
  }

  /** Number of waiting requests. */
  get length(): number {
    return this.waiting.length;
  }

  /**
   * Returns true if the gate keeps or refuses the request, false if the shard should execute it now. If this throws,
   * the request has not been handled.
   */
  takes(request: Request): boolean {
    if (request.type === 'query') return this.takesQuery(request);
    const { waiting } = this;
    const { username } = request.command;
    const player = waiting.findPlayer(username);
    const needed = player === undefined ? this.findNeeded(request) : undefined;
    if (player === undefined && needed === undefined) return false;
    // A refused request starts no lookup, because no request would wait for the result.
    if (waiting.isFull) request.replier.reply(OVERLOADED);
    else if (player !== undefined) waiting.add(player, request);
    else if (needed !== undefined) waiting.begin(username, request, this.lookUp(needed));
    return true;
  }

  /** Executes the waiting requests of players whose lookups are complete, until the entry being formed is full. */
  goOn(): void {
    const { waiting, client } = this;
    for (
      let player = waiting.nextReady();
      player !== undefined && client.isServing && !client.isFull();
      player = waiting.nextReady()
    ) {
      this.goOnWith(player);
    }
  }

  /** Records that rounds of this player have left memory. */
  noteEvicted(username: string): void {
    for (const list of this.lists) if (list.query.username === username) list.isStale = true;
  }

  dropLate(): void {
    const nowMs = this.clock.monotonicMs();
    this.waiting.dropLate(nowMs, TOO_LATE);
    for (const list of this.lists) if (list.request.deadlineMs <= nowMs) this.drop(list, TOO_LATE);
  }

  /**
   * Drops all waiting requests. Their lookup results would be out of date if the shard came back to this node, because
   * another node may have archived more records in between.
   */
  dropAll(answer: BusyAnswer): void {
    this.waiting.dropAll(answer);
    for (const list of this.lists) this.drop(list, answer);
  }

  private drop(list: PendingList, answer: BusyAnswer): void {
    this.lists.delete(list);
    list.request.replier.reply(answer);
  }

  private goOnWith(player: WaitingPlayer): void {
    const { waiting, client } = this;
    let found = player.asking === player.requests.peek() ? player.found : undefined;
    for (let request = player.requests.peek(); request !== undefined; request = player.requests.peek()) {
      let lookUp: Promise<Found> | undefined;
      try {
        const needed = found === undefined ? this.findNeeded(request) : undefined;
        lookUp = needed && this.lookUp(needed);
      } catch (error) {
        waiting.shift(player);
        client.failAt(request, error);
        return;
      }
      if (lookUp !== undefined) {
        waiting.leaveReady(false);
        waiting.await(player, lookUp);
        return;
      }
      waiting.shift(player);
      if (found === 'unknown') {
        this.refuse(request);
      } else {
        const refused = found && this.restore(player, found);
        if (refused === undefined) this.carryOut(request, found);
        else request.replier.reply(refused);
      }
      if (!client.isServing) return;
      found = undefined;
      player.found = undefined;
      if (client.isFull()) return;
    }
    waiting.leaveReady(true);
  }

  /** Refuses a request whose lookup failed, because a decision without the archived rounds could be wrong. */
  private refuse({ deadlineMs, replier }: Request): void {
    replier.reply(deadlineMs <= this.clock.monotonicMs() ? TOO_LATE : ARCHIVE_DAMAGED);
  }

  private carryOut(request: Request, found: Found | undefined): void {
    const startedMs = this.clock.monotonicMs();
    if (request.deadlineMs <= startedMs) request.replier.reply(TOO_LATE);
    else if (this.client.isServing) this.client.carryOut(request, startedMs, found);
    else request.replier.reply(STARTING);
  }

  /**
   * Restores the rounds to the wallet. If this is impossible now, returns the refusal for the request, which must not
   * be decided without its rounds.
   */
  private restore({ username }: WaitingPlayer, { images }: Found): BusyAnswer | undefined {
    let some: Buffer[] = [];
    let bytes = 0;
    const refused: BusyAnswer[] = [];
    let isOver = false;
    // The shard answers accepted commands later, once they are durable.
    const replier: Replier<Answer> = {
      reply: (answer) => {
        if (!isOver) refused.push(answer as BusyAnswer);
      },
    };
    for (const [i, image] of images.entries()) {
      some.push(image);
      bytes += image.length;
      if (bytes < RESTORED_BYTES && i < images.length - 1) continue;
      const command = { type: 'restore-rounds', username, images: some } as const;
      this.carryOut({ type: 'command', command, replier, deadlineMs: Number.POSITIVE_INFINITY }, undefined);
      some = [];
      bytes = 0;
    }
    isOver = true;
    return refused[0];
  }

  /**
   * The lookup that the request needs; undefined if it can be decided without the archive. If this throws, the request
   * must not be decided.
   */
  private findNeeded(request: Request): Needed | undefined {
    if (request.type === 'query' || !('txns' in request.command)) return undefined;
    const { command, deadlineMs } = request;
    if (namesNewBets(command) && !this.archive.mayHaveAnyOf(command)) return undefined;
    const { username, productId } = command;
    const wallet = this.client.findWallet(username);
    if (wallet === undefined) return undefined;
    const missing = missingIn(wallet, command);
    return this.archive.mayHaveMissing(username, productId, missing)
      ? { username, productId, missing, deadlineMs }
      : undefined;
  }

  private lookUp({ username, productId, missing, deadlineMs }: Needed): Promise<Found> {
    return this.archive.find(username, productId, missing, deadlineMs);
  }

  /**
   * True if the request is a `list-transactions` query. The gate then queries the archive first, or replies OVERLOADED.
   */
  private takesQuery(request: QueryRequest): boolean {
    const { query } = request;
    if (query.type !== 'list-transactions') return false;
    if (this.lists.size < LISTS_MAX) void this.list({ request, query, isStale: true });
    else request.replier.reply(OVERLOADED);
    return true;
  }

  private async list(list: PendingList): Promise<void> {
    const { request, query } = list;
    const { username, after, limit } = query;
    const version = after?.version ?? Number.MAX_SAFE_INTEGER;
    const isWanted = () => this.lists.has(list);
    this.lists.add(list);
    let found: Found | undefined;
    try {
      // Rounds that left memory during the query are missing from both parts of the list, so query again.
      while (list.isStale && isWanted()) {
        list.isStale = false;
        found = await this.archive.list(username, version, limit + (after?.shown ?? 0), isWanted);
      }
    } catch {
      if (this.lists.delete(list)) this.refuse(request);
      return;
    }
    if (this.lists.delete(list)) this.carryOut(request, found);
  }
}
