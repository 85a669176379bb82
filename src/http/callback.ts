import type { Replier } from '../base/replier.js';
import type { CallbackAnswer, CallbackReply } from '../callback/callback-codec.js';
import { type CallbackFailure, FAILURES } from '../callback/failures.js';
import { describeRefusal, fieldOf } from '../callback/refusal.js';
import { NOTHING_READ, type ReadRequest, textOf } from '../callback/request-codec.js';
import type { Endpoint } from '../wallet/command.js';
import type { Pending } from './admission.js';
import type { CallbackDeps } from './callback-deps.js';
import type { Outcome } from './callback-observer.js';
import { CallbackTrace } from './callback-trace.js';
import type { HttpResponse } from './http-port.js';
import { type SignatureClaim, type Unsigned, WRONG_SIGNATURE } from './signature.js';

/**
 * Maximum number of chunks in a body: this many, plus one for each `BYTES_PER_PIECE` bytes. Each chunk costs as much as
 * a small callback.
 */
const PIECES_FREE = 64;
const BYTES_PER_PIECE = 256;

/**
 * One callback from its headers to its answer. It ends exactly once: answered, expired or aborted. After that, the
 * library's response must not be used, and a late answer is dropped.
 */
export class Callback implements Pending, Replier<CallbackReply> {
  older: Pending | undefined = undefined;
  newer: Pending | undefined = undefined;
  readonly deadlineMs: number;
  isExecuting = false;
  byteLength = 0;
  private isDone = false;
  private chunks: Buffer[] | undefined = undefined;
  private claim: SignatureClaim | undefined = undefined;
  /** The human-readable sender; set whenever there is a claim. */
  private from: (() => string) | undefined = undefined;
  /**
   * The request body, set once it has completely arrived and been verified. Dropped once the callback is answered:
   * during an outage, the executor may hold this callback long after its bytes stopped counting toward the limit.
   */
  private text: string | undefined = undefined;
  /** The compression format of the body, if any. Compressed bodies are refused. */
  private compression: string | undefined = undefined;
  /** Undefined if the callback is not traced. */
  private trace: CallbackTrace | undefined = undefined;

  constructor(
    private readonly deps: CallbackDeps,
    private readonly res: HttpResponse,
    private readonly endpoint: Endpoint,
  ) {
    this.deadlineMs = deps.clock.monotonicMs() + deps.settings.requestDeadlineMs;
    deps.admission.enter(this);
    // Set the abort handler first: without one, a late answer makes the library end the process.
    res.onAborted(() => this.aborted());
  }

  /**
   * Collects the request body and, if a signature is required, verifies it; `from` describes the sender. A chunk is in
   * the library's memory and becomes invalid when its handler returns.
   */
  readBody(claim: SignatureClaim | Unsigned | undefined, from: (() => string) | undefined): void {
    this.from = from;
    if (claim !== undefined && 'reason' in claim) {
      this.refuseUnsigned(claim, true);
      return;
    }
    this.claim = claim;
    this.res.onData((chunk, isLast) => {
      if (this.isDone) return;
      const byteLength = this.byteLength + chunk.byteLength;
      if (byteLength > this.deps.settings.bodyBytesMax) return this.refuseAndClose('body-too-large');
      if (isLast && this.chunks === undefined) return this.execute(Buffer.from(chunk));
      if (!this.deps.admission.tryGrow(this, chunk.byteLength)) return this.refuseAndClose('overloaded');
      this.chunks ??= [];
      this.chunks.push(Buffer.from(new Uint8Array(chunk)));
      // Close the connection without an answer. After an answer, the library would process everything that it has
      // received before it closes.
      if (this.chunks.length > PIECES_FREE + byteLength / BYTES_PER_PIECE) this.res.close();
      else if (isLast) this.execute(Buffer.concat(this.chunks));
    });
  }

  /** Begins the callback's trace. `header` is the caller's traceparent header, or empty. */
  follow(header: string, isLogged: boolean): void {
    this.trace = CallbackTrace.tryStart(this.endpoint, header, this.deps.tracer, isLogged);
  }

  reply({ answer, body, turn }: CallbackReply, readyMs?: number): void {
    if (this.isDone) return;
    if (this.trace !== undefined) this.trace.turn = turn;
    if (answer.type === 'failed') {
      this.answerFailure(answer.failure, false, readyMs, body);
      return;
    }
    this.done();
    this.res.cork(() => {
      const { isEnding } = this.deps.ending;
      this.res.writeHeader('Content-Type', 'application/json');
      if (!isEnding) this.res.writeHeader('Keep-Alive', KEEP_ALIVE);
      this.res.end(body, isEnding);
    });
    this.answered(answer, readyMs);
  }

  /** Answers that the outcome is unknown, after the deadline. Disconnects a sender that is still sending its body. */
  expire(): void {
    this.answerFailure('not-durable-in-time', !this.isExecuting);
  }

  refuse(failure: CallbackFailure): void {
    this.answerFailure(failure, false);
  }

  /** Refuses a request that has not been completely read. */
  refuseAndClose(failure: CallbackFailure): void {
    this.answerFailure(failure, true);
  }

  private execute(bytes: Buffer): void {
    if (this.claim !== undefined && !this.claim.isProvenBy(bytes)) {
      this.refuseUnsigned(WRONG_SIGNATURE, false);
      return;
    }
    // Keep the body as text instead of bytes, because long-lived byte buffers are outside the heap and cause V8 to run
    // full collections.
    const text = textOf(bytes);
    this.text = text;
    this.compression = text === '' ? compressionOf(bytes) : undefined;
    this.chunks = undefined;
    const { endpoint, deadlineMs, trace } = this;
    if (trace !== undefined) trace.readMs = this.deps.clock.monotonicMs();
    const isSigned = this.claim !== undefined;
    const isTraced = trace?.span !== undefined;
    if (this.deps.admission.tryExecute(this, bytes.length))
      this.deps.service.carryOut({ endpoint, text, deadlineMs, isSigned, isTraced }, this);
    else this.refuse('overloaded');
  }

  /** Refuses an unsigned request. Its body is not parsed, so the answer echoes nothing from it. */
  private refuseUnsigned({ reason, detail }: Unsigned, close: boolean): void {
    const { from } = this;
    if (from !== undefined) {
      this.deps.refusals.note(reason, () => (detail === undefined ? from() : `${from()} (${detail})`));
    }
    this.answerFailure('invalid-signature', close);
  }

  private answerFailure(failure: CallbackFailure, close: boolean, readyMs?: number, body = ''): void {
    if (this.isDone) return;
    this.done();
    const text = body === '' ? this.deps.codec.failure(this.read(), failure) : body;
    sendFailure(this.res, failure, text, close || this.deps.ending.isEnding);
    this.answered({ type: 'failed', failure }, readyMs);
  }

  private answered(answer: CallbackAnswer, readyMs: number | undefined): void {
    const { observer, log, clock, settings } = this.deps;
    const endedMs = clock.monotonicMs();
    // All callbacks have the same time limit, so the arrival time follows from the deadline.
    const startedMs = this.deadlineMs - settings.requestDeadlineMs;
    const isFailure = answer.type === 'failed';
    observer.answered(this.endpoint, isFailure ? answer.failure : 'accepted');
    observer.took(startedMs, readyMs, endedMs);
    if (isFailure && answer.failure === 'malformed') this.noteMalformed();
    // Requests that are refused before their body is read also get here. A line about such a request would contain
    // nothing useful, and strangers could fill the log with such lines.
    if (this.text !== undefined && log.wants(isFailure, endedMs - startedMs)) {
      log.write(this.endpoint, this.read(), answer, endedMs - startedMs, this.trace?.traceId);
    }
    this.text = undefined;
    if (this.trace !== undefined) this.endTrace(isFailure ? answer.failure : 'accepted', readyMs, endedMs);
  }

  private endTrace(outcome: Outcome | 'aborted', readyMs: number | undefined, endedMs: number): void {
    const { trace, deadlineMs } = this;
    const startedMs = deadlineMs - this.deps.settings.requestDeadlineMs;
    trace?.span?.end(outcome, { startedMs, readMs: trace.readMs, turn: trace.turn, readyMs, endedMs });
    this.trace = undefined;
  }

  /** Passes the reason to the log and a counter, whether or not the answer includes it. */
  private noteMalformed(): void {
    const { id, refusal } = this.read();
    if (refusal === undefined) return;
    this.deps.observer.malformed(this.endpoint, refusal);
    const hint =
      this.compression === undefined ? '' : `; it is compressed (${this.compression}), which is not supported`;
    const reason = describeRefusal({ ...refusal, path: fieldOf(refusal) }) + hint;
    this.deps.malformed.note(`${this.endpoint} ${reason}`, () => `request ${id}`);
  }

  /** Parses the body for the few callbacks that need it in this thread. Normally the executor parses it. */
  private read(): ReadRequest {
    return this.text === undefined ? NOTHING_READ : this.deps.codec.read(this.endpoint, this.text);
  }

  private aborted(): void {
    if (!this.isDone) {
      this.deps.observer.aborted();
      if (this.trace !== undefined) this.endTrace('aborted', undefined, this.deps.clock.monotonicMs());
    }
    this.done();
    this.text = undefined;
  }

  private done(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.chunks = undefined;
    this.deps.admission.leave(this);
  }
}

const STATUS_LINES: Readonly<Record<number, string>> = {
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  413: '413 Payload Too Large',
  503: '503 Service Unavailable',
};

/** Idle timeout announced to callers, which is shorter than the library's fixed one of 8 to 12 s. */
const KEEP_ALIVE = 'timeout=7';
const RETRY_AFTER_SECONDS = '1';

export function sendFailure(res: HttpResponse, failure: CallbackFailure, body: string, close = false): void {
  const { httpStatus } = FAILURES[failure];
  const statusLine = STATUS_LINES[httpStatus];
  res.cork(() => {
    if (statusLine !== undefined) res.writeStatus(statusLine);
    res.writeHeader('Content-Type', 'application/json');
    if (httpStatus === 503) res.writeHeader('Retry-After', RETRY_AFTER_SECONDS);
    if (!close) res.writeHeader('Keep-Alive', KEEP_ALIVE);
    if (httpStatus === 405) res.writeHeader('Allow', 'POST');
    res.end(body, close);
  });
}

/** The compression format of the body, detected from its first bytes. Deflate and brotli have no signature. */
function compressionOf(bytes: Buffer): string | undefined {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip';
  return bytes.length > 4 && bytes.readUInt32LE() === 0xfd2fb528 ? 'zstd' : undefined;
}
