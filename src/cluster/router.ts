import { AnswerOnce } from '../base/answer-once.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Replier } from '../base/replier.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { CallbackCodec, CallbackReply } from '../callback/callback-codec.js';
import { guessUsername } from '../callback/guess-username.js';
import type { SentCallback } from '../callback/sent-callback.js';
import { TOO_LATE, UNSURE } from '../ports/request.js';
import { shardOf } from '../threads/placement.js';
import type { NewRequest, WireResult } from '../threads/protocol.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import type { BusyAnswer } from '../wallet/rejection.js';
import type { ClusterShard } from './cluster-shard.js';
import { Parking } from './parking.js';
import { PeerCalls } from './peer-calls.js';
import type { PeerClocks } from './peer-clocks.js';
import type { PeerLinks, PeerMessage } from './peer-protocol.js';
import { type LocalShards, type Refusal, type Rerouter, type Routed, RoutedCallback, RoutedRequest } from './routed.js';
import type { Routes } from './routes.js';

export interface RouterDeps {
  readonly tag: string;
  readonly shards: readonly ClusterShard[];
  readonly local: LocalShards;
  readonly isServedHere: (shard: number) => boolean;
  readonly links: Pick<PeerLinks, 'send' | 'isUp'>;
  readonly routes: Routes;
  readonly clocks: PeerClocks;
  readonly codec: Pick<CallbackCodec, 'addressOf'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Maximum number of parked requests per shard. */
  readonly parkedMax: number;
  /**
   * True if repeats from the platform are refused. A request that may have been executed is then not resent, because it
   * would be refused as a repeat that its sender never sent.
   */
  readonly refusesRepeats: boolean;
}

const TICK_MS = 50;

/**
 * Routes callbacks and operators' requests from any node to the node that serves their shard. A request that was
 * certainly not executed is sent again. A request that may have been executed is also sent again: if it was executed,
 * it counts as a repeat and gets the first answer.
 *
 *   here ── moved ──┐            ┌── link lost, unsure: may have been executed
 *   peer ── moved ──┴─> route ─<─┘
 *                         └─ no known owner ─> parked ─> until there is an owner, or until its deadline
 */
export class Router implements LocalShards, Rerouter {
  private readonly parking: Parking;
  private readonly peers = new Map<string, PeerCalls>();
  readonly log: Logger;
  private readonly stopTicking: Cancel;
  private isFlushing = false;
  /** Number of requests forwarded to peers, and number of attempts that had to be repeated. */
  forwarded = 0;
  resent = 0;

  constructor(private readonly deps: RouterDeps) {
    this.log = deps.log;
    this.parking = new Parking(deps.shards, deps.parkedMax);
    this.stopTicking = deps.timers.every(TICK_MS, () => this.tick());
  }

  get parked(): number {
    return this.parking.length;
  }

  get waiting(): number {
    let sum = this.parking.length;
    for (const peer of this.peers.values()) sum += peer.waiting;
    return sum;
  }

  carryOut(callback: SentCallback, replier: Replier<CallbackReply>): void {
    const shard = shardOf(guessUsername(callback.text), this.deps.shards.length);
    this.route(new RoutedCallback(shard, callback, new AnswerOnce(replier, this.log), this));
  }

  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void {
    this.request({ shard, deadlineMs, command }, replier as Replier<WireResult>);
  }

  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void {
    this.request({ shard, deadlineMs, query }, replier as Replier<WireResult>);
  }

  /** Sends parked requests after a change: a shard may have a new owner, or an owner may be reachable again. */
  flush(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    this.parking.flush(this.deps.clock.monotonicMs(), (routed) => this.tryDeliver(routed));
    this.isFlushing = false;
  }

  refusedHere(routed: Routed, refusal: Refusal): void {
    this.again(routed, refusal);
  }

  /** Handles answers from a peer. */
  receive(tag: string, message: PeerMessage): void {
    const nowMs = this.deps.clock.monotonicMs();
    if (message.type === 'replies') this.peers.get(tag)?.replied(message.replies, nowMs);
    else if (message.type === 'results') this.peers.get(tag)?.answered(message.ids, message.results, nowMs);
  }

  linkLost(tag: string): void {
    this.peers.get(tag)?.lost();
    this.peers.delete(tag);
  }

  close(): void {
    this.stopTicking();
  }

  private request(request: NewRequest, replier: Replier<WireResult>): void {
    this.route(new RoutedRequest(request, new AnswerOnce(replier, this.log), this));
  }

  private route(routed: Routed): void {
    if (this.tryDeliver(routed)) return;
    // The shard may have been guessed wrongly. A node that receives such a callback corrects the guess, but this
    // callback has reached no node, so parse its text here.
    if (routed instanceof RoutedCallback && this.settled(routed)) return;
    this.parking.park(routed);
  }

  /**
   * Parses the callback. Returns true if it was answered as malformed, or if it belongs to a different shard and could
   * be delivered.
   */
  private settled(routed: RoutedCallback): boolean {
    const { endpoint, text } = routed.callback;
    const address = this.deps.codec.addressOf(endpoint, text);
    if (!('username' in address)) {
      routed.replier.reply(address);
      return true;
    }
    const shard = shardOf(address.username, this.deps.shards.length);
    if (shard === routed.shard) return false;
    routed.shard = shard;
    return this.tryDeliver(routed);
  }

  private tryDeliver(routed: Routed): boolean {
    const { isServedHere, local, routes, links, tag: here } = this.deps;
    if (isServedHere(routed.shard)) {
      routed.carryOutHere(local);
      return true;
    }
    const tag = routes.of(routed.shard);
    if (tag === undefined || tag === here || !links.isUp(tag)) return false;
    if (!this.callsTo(tag).trySend(routed)) return false;
    this.forwarded++;
    return true;
  }

  private again(routed: Routed, refusal: Refusal): void {
    this.resent++;
    if (refusal === 'unsure') routed.isDoubtful = true;
    if (routed.deadlineMs <= this.deps.clock.monotonicMs()) {
      routed.answerBusy(TOO_LATE);
    } else if (routed.isDoubtful && this.deps.refusesRepeats) {
      routed.answerBusy(UNSURE);
    } else if (!(routed instanceof RoutedCallback && this.settled(routed))) {
      // The node that refused the request may still be listed as the owner for a moment. Park the request until the
      // owner is known.
      this.parking.park(routed);
    }
  }

  private callsTo(tag: string): PeerCalls {
    const known = this.peers.get(tag);
    if (known !== undefined) return known;
    const { clocks, timers, links, routes } = this.deps;
    const calls = new PeerCalls(tag, {
      clocks,
      timers,
      send: (message) => links.send(tag, message),
      onRefused: (routed, refusal) => {
        routes.denied(tag, routed.shard);
        this.again(routed, refusal);
        this.flush();
      },
    });
    this.peers.set(tag, calls);
    return calls;
  }

  private tick(): void {
    const nowMs = this.deps.clock.monotonicMs();
    for (const peer of this.peers.values()) peer.dropLate(nowMs);
    this.flush();
  }
}
