import type { Replier } from '../base/replier.js';
import { isCount } from '../base/shape.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import { UPGRADING } from '../ports/request.js';
import { type CallbackColumns, callbackAt } from '../threads/columns.js';
import { OutgoingReplies } from '../threads/outgoing-replies.js';
import type { WireRequest, WireResult } from '../threads/protocol.js';
import { isKnown, isKnownEndpoint } from './known-requests.js';
import type { PeerLinks } from './peer-protocol.js';
import type { LocalShards } from './routed.js';

/**
 * Executes requests from peers on this node. A request for a shard on a different node is answered `moved`, never
 * forwarded.
 */
export class CallServer {
  private readonly outgoing = new Map<string, OutgoingReplies>();

  constructor(
    private readonly local: LocalShards,
    private readonly links: Pick<PeerLinks, 'send'>,
  ) {}

  carryOut(tag: string, columns: CallbackColumns): void {
    const outgoing = this.to(tag);
    for (let i = 0; i < columns.endpoints.length; i++) {
      const id = columns.firstId + i;
      const replier: Replier<CallbackReply> = { reply: (reply, readyMs) => outgoing.addReply(id, reply, readyMs) };
      const callback = callbackAt(columns, i);
      if (isKnownEndpoint(callback.endpoint)) this.local.carryOut(callback, replier);
      else replier.reply({ answer: UPGRADING, body: '' });
    }
  }

  /** Answers callbacks whose columns only a newer walletd can read; `columns` may be anything. */
  refuse(tag: string, columns: unknown): void {
    const { firstId, endpoints } = (columns ?? {}) as { readonly firstId?: unknown; readonly endpoints?: unknown };
    if (!isCount(firstId) || !Array.isArray(endpoints)) return;
    const outgoing = this.to(tag);
    for (let i = 0; i < endpoints.length; i++) {
      outgoing.addReply((firstId as number) + i, { answer: UPGRADING, body: '' }, undefined);
    }
  }

  answer(tag: string, requests: readonly WireRequest[]): void {
    const outgoing = this.to(tag);
    for (const request of requests) {
      const { id, shard, deadlineMs } = request;
      const replier: Replier<WireResult> = { reply: (result, readyMs) => outgoing.addResult(id, result, readyMs) };
      if (!isKnown(request)) replier.reply(UPGRADING);
      else if ('command' in request) this.local.execute(shard, request.command, deadlineMs, replier);
      else this.local.ask(shard, request.query, deadlineMs, replier);
    }
  }

  /** Discards answers that are still to come for this peer. The peer has already handled the loss of the link. */
  linkLost(tag: string): void {
    this.outgoing.delete(tag);
  }

  private to(tag: string): OutgoingReplies {
    const known = this.outgoing.get(tag);
    if (known !== undefined) return known;
    const outgoing = new OutgoingReplies((replies, results) => {
      if (this.outgoing.get(tag) !== outgoing) return;
      if (replies !== undefined) this.links.send(tag, { type: 'replies', replies });
      if (results !== undefined) this.links.send(tag, { type: 'results', ...results });
    });
    this.outgoing.set(tag, outgoing);
    return outgoing;
  }
}
