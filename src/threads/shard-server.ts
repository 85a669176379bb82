import type { Replier } from '../base/replier.js';
import type { CallbackReply } from '../callback/callback-codec.js';
import type { Lsn } from '../ports/lsn.js';
import { RecoveryError } from '../ports/recovery-error.js';
import type { EncodedEntry, Takeover } from '../ports/wal.js';
import type { Pace } from '../snapshot/snapshotter.js';
import { type CallbackColumns, callbackAt } from './columns.js';
import { OutgoingReplies, type SendReplies } from './outgoing-replies.js';
import type { FromWorker, Port, ToWorker, WireRequest, WireResult } from './protocol.js';
import type { Move, ThreadShards } from './shards.js';

const STATUS_MS = 100;
const STATUSES_PER_METRICS = 10;

/** The worker's end of the thread protocol. Passes requests to this thread's shards and returns the results. */
export class ShardServer {
  private readonly outgoing = new OutgoingReplies((...outgoing) => this.send(...outgoing));
  private timer: NodeJS.Timeout | undefined = undefined;
  private statuses = 0;

  constructor(
    private readonly shards: ThreadShards,
    private readonly port: Port<FromWorker>,
    private readonly onClose: () => Promise<void>,
  ) {}

  /**
   * Starts the shards. If there are no fences, this thread replaces one that died after it had acknowledged the entries
   * in `acknowledged`.
   */
  async start(fences: readonly Takeover[] | undefined, acknowledged: ReadonlyMap<number, Lsn>): Promise<void> {
    try {
      await (fences === undefined
        ? this.shards.resume(acknowledged)
        : this.shards.start(fences.map((fence) => ({ ...fence, entry: withBuffer(fence.entry) }))));
    } catch (error) {
      const isTheirs = error instanceof RecoveryError;
      const message = isTheirs ? error.message : String((error as Error).stack);
      this.port.postMessage({ type: 'open-failed', message });
      return;
    }
    this.sendStatus();
    this.port.postMessage({ type: 'shards-opened' });
    this.timer = setInterval(() => this.sendStatus(), STATUS_MS);
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'submit-callbacks':
        this.carryOut(message.callbacks);
        return;
      case 'submit-requests':
        for (const request of message.requests) this.submit(request);
        return;
      case 'drain-shards':
        void this.drain(message.timeoutMs);
        return;
      case 'take-snapshots':
        void this.takeSnapshots(message.pace);
        return;
      case 'move-shard':
        void this.move(message.id, message.move);
        return;
      case 'allow-format':
        this.shards.allowFormat(message.format);
        return;
      case 'confirm-time':
        this.shards.confirmTime(message.confirmed);
        return;
      case 'keep-orphans':
        void this.shards.keepOrphans().then(() => this.port.postMessage({ type: 'orphans-kept' }));
        return;
      case 'close-shards':
        clearInterval(this.timer);
        void this.onClose();
        return;
    }
  }

  private carryOut(columns: CallbackColumns): void {
    for (let i = 0; i < columns.endpoints.length; i++) {
      const id = columns.firstId + i;
      const callback = callbackAt(columns, i);
      const replier: Replier<CallbackReply> = { reply: (reply, readyMs) => this.outgoing.addReply(id, reply, readyMs) };
      const shard = this.shards.tryCarryOut(callback, replier);
      if (shard !== undefined) this.port.postMessage({ type: 'misplaced-callback', id, shard, callback });
    }
  }

  private submit(request: WireRequest): void {
    const { id, shard, deadlineMs } = request;
    const replier: Replier<WireResult> = { reply: (result, readyMs) => this.outgoing.addResult(id, result, readyMs) };
    if ('command' in request) this.shards.execute(shard, request.command, deadlineMs, replier);
    else this.shards.ask(shard, request.query, deadlineMs, replier);
  }

  private send(...[replies, results, readyMs]: Parameters<SendReplies>): void {
    const durable = this.shards.durable();
    if (replies !== undefined) this.port.postMessage({ type: 'replies', replies, durable, readyMs });
    if (results !== undefined) this.port.postMessage({ type: 'results', ...results, durable, readyMs });
  }

  private sendStatus(): void {
    const metrics = this.statuses++ % STATUSES_PER_METRICS === 0 ? this.shards.metrics() : undefined;
    const { isMemoryFull } = this.shards;
    this.port.postMessage({ type: 'status', shards: this.shards.status(), isMemoryFull, metrics });
  }

  private async takeSnapshots(pace: Pace): Promise<void> {
    this.port.postMessage({ type: 'snapshots-taken', results: await this.shards.takeSnapshots(pace) });
  }

  /**
   * Moves the shard. The status is sent before the result, because the main thread uses the status as soon as it has
   * the result.
   */
  private async move(id: number, move: Move): Promise<void> {
    const result = await this.shards.move(move);
    this.sendStatus();
    this.port.postMessage({ type: 'shard-moved', id, result });
  }

  private async drain(timeoutMs: number): Promise<void> {
    const isEmpty = await this.shards.drain(timeoutMs);
    this.port.postMessage({ type: 'drained', isEmpty });
  }
}

/** Converts the bytes back to a Buffer, because a Buffer from another thread arrives as a plain byte array. */
function withBuffer({ head, bytes }: EncodedEntry): EncodedEntry {
  return { head, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}
