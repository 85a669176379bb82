import type { CallbackReply } from '../callback/callback-codec.js';
import { ReplyColumns } from './columns.js';
import type { WireResult } from './protocol.js';

export interface OutgoingResults {
  readonly ids: readonly number[];
  readonly results: readonly WireResult[];
}

/**
 * `replies` and `results` are undefined if there are none. `readyMs` is the time at which all of them became ready to
 * be sent.
 */
export type SendReplies = (
  replies: ReplyColumns | undefined,
  results: OutgoingResults | undefined,
  readyMs: number | undefined,
) => void;

/**
 * Collects replies. The replies of one group commit are added in one synchronous run, at the end of which a single
 * message sends them.
 */
export class OutgoingReplies {
  private ids: number[] = [];
  private results: WireResult[] = [];
  private replies = new ReplyColumns();
  private readyMs: number | undefined = undefined;

  constructor(private readonly send: SendReplies) {}

  addResult(id: number, result: WireResult, readyMs: number | undefined): void {
    this.schedule(readyMs);
    this.ids.push(id);
    this.results.push(result);
  }

  addReply(id: number, reply: CallbackReply, readyMs: number | undefined): void {
    this.schedule(readyMs);
    this.replies.push(id, reply);
  }

  private schedule(readyMs: number | undefined): void {
    if (this.ids.length > 0 || this.replies.ids.length > 0) return;
    queueMicrotask(() => this.flush());
    this.readyMs = readyMs;
  }

  private flush(): void {
    const { ids, results, replies, readyMs } = this;
    this.ids = [];
    this.results = [];
    this.replies = new ReplyColumns();
    this.send(replies.ids.length > 0 ? replies : undefined, ids.length > 0 ? { ids, results } : undefined, readyMs);
  }
}
