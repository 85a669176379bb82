import type { Clock } from '../../base/clock.js';
import type { Replier } from '../../base/replier.js';
import { missingIn, namesNewBets } from '../../wallet/archiving.js';
import type { Answer } from '../../wallet/decision.js';
import type { Query } from '../../wallet/query.js';
import type { BusyAnswer } from '../../wallet/rejection.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { ARCHIVE_DAMAGED, OVERLOADED, type Request, STARTING, TOO_LATE } from '../request.js';
import type { ShardArchive } from './shard-archive.js';
import { type Found, type WaitingPlayer, WaitingPlayers } from './waiting-players.js';

/** The shard, as it is asked to go on with what has waited. */
export interface Carrier {
  readonly isServing: boolean;
  /** The entry being formed takes no more. */
  isFull(): boolean;
  /** Of the shard's wallets as they are now. */
  maybeWallet(username: string): Wallet | undefined;
  carryOut(request: Request, startedMs: number, found: Found | undefined): void;
  /** Answers the request, and fails. */
  failAt(request: Request, error: unknown): void;
}

type QueryRequest = Extract<Request, { type: 'query' }>;
type ListTransactions = Extract<Query, { type: 'list-transactions' }>;

interface PendingList {
  readonly request: QueryRequest;
  readonly query: ListTransactions;
  /** Some of it has left memory since the archive was asked. */
  isStale: boolean;
}

/** Lists that wait for the archive at a time. */
const LISTS_MAX = 100;
/** Of rounds that come back in one event, about: an entry is not to become much longer than others. */
const RESTORED_BYTES = 256 * 1024;

/**
 * Where a request goes first that names what is not in memory: it waits here until the archive has said whether it has it.
 * What it has comes back to the wallet before the request is decided.
 */
export class ArchiveDesk {
  private readonly waiting: WaitingPlayers;
  /** Lists of transactions: they hold up nobody. */
  private readonly lists = new Set<PendingList>();

  /** `most`: requests that wait. */
  constructor(
    private readonly archive: ShardArchive,
    private readonly carrier: Carrier,
    private readonly clock: Clock,
    most: number,
  ) {
    this.waiting = new WaitingPlayers(most, () => this.goOn());
  }

  /** Requests that wait. */
  get length(): number {
    return this.waiting.length;
  }

  /** True when the request waits, or has been refused; false when it is to be carried out now. Where it throws, neither. */
  takes(request: Request): boolean {
    if (request.type === 'query') return this.takesQuery(request);
    const { waiting } = this;
    const { username } = request.command;
    const player = waiting.maybePlayer(username);
    const found = player === undefined ? this.maybeLookUp(request) : undefined;
    if (player === undefined && found === undefined) return false;
    if (waiting.isFull) request.replier.reply(OVERLOADED);
    else if (player !== undefined) waiting.add(player, request);
    else if (found !== undefined) waiting.begin(username, request, found);
    return true;
  }

  /** Carries out what players have waited for, as far as there is room. */
  goOn(): void {
    const { waiting, carrier } = this;
    for (
      let player = waiting.maybeReady();
      player !== undefined && carrier.isServing && !carrier.isFull();
      player = waiting.maybeReady()
    ) {
      this.goOnWith(player);
    }
  }

  /** Rounds of this player have left memory. */
  noteLeft(username: string): void {
    for (const list of this.lists) if (list.query.username === username) list.isStale = true;
  }

  dropLate(): void {
    const nowMs = this.clock.monotonicMs();
    this.waiting.dropLate(nowMs, TOO_LATE);
    for (const list of this.lists) if (list.request.deadlineMs <= nowMs) this.drop(list, TOO_LATE);
  }

  /** What the archive has is not as it was asked for when the shard comes back: another node may have put more. */
  dropAll(answer: BusyAnswer): void {
    this.waiting.dropAll(answer);
    for (const list of this.lists) this.drop(list, answer);
  }

  private drop(list: PendingList, answer: BusyAnswer): void {
    this.lists.delete(list);
    list.request.replier.reply(answer);
  }

  private goOnWith(player: WaitingPlayer): void {
    const { waiting, carrier } = this;
    let found = player.asking === player.requests.peek() ? player.found : undefined;
    for (let request = player.requests.peek(); request !== undefined; request = player.requests.peek()) {
      let lookUp: Promise<Found> | undefined;
      try {
        lookUp = found === undefined ? this.maybeLookUp(request) : undefined;
      } catch (error) {
        waiting.shift(player);
        carrier.failAt(request, error);
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
      if (!carrier.isServing) return;
      found = undefined;
      player.found = undefined;
      if (carrier.isFull()) return;
    }
    waiting.leaveReady(true);
  }

  /** Of what nobody could tell what the archive has: nothing is decided blindly. */
  private refuse({ deadlineMs, replier }: Request): void {
    replier.reply(deadlineMs <= this.clock.monotonicMs() ? TOO_LATE : ARCHIVE_DAMAGED);
  }

  private carryOut(request: Request, found: Found | undefined): void {
    const startedMs = this.clock.monotonicMs();
    if (request.deadlineMs <= startedMs) request.replier.reply(TOO_LATE);
    else if (this.carrier.isServing) this.carrier.carryOut(request, startedMs, found);
    else request.replier.reply(STARTING);
  }

  /** Returns the refusal where it cannot be done now: without its rounds the request must not be decided. */
  private restore({ username }: WaitingPlayer, { images }: Found): BusyAnswer | undefined {
    let some: Buffer[] = [];
    let bytes = 0;
    const refused: BusyAnswer[] = [];
    let isOver = false;
    // Accepted commands are answered later, when they are durable.
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
   * What the archive may have of what the request names; undefined when it need not be asked. Where this throws, the request
   * must not be decided.
   */
  private maybeLookUp(request: Request): Promise<Found> | undefined {
    if (request.type === 'query' || !('txns' in request.command)) return undefined;
    const { command, deadlineMs } = request;
    if (namesNewBets(command) && !this.archive.mayHaveAnyOf(command)) return undefined;
    const { username, productId } = command;
    const wallet = this.carrier.maybeWallet(username);
    return wallet && this.archive.maybeFind(username, productId, missingIn(wallet, command), deadlineMs);
  }

  /** True for a list of transactions: it is read when the archive has told its part, or has been refused. */
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
      // What leaves memory meanwhile would be in neither part.
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
