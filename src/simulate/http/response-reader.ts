/** A complete HTTP/1.1 response. */
export interface Response {
  readonly status: number;
  /** The body. Of a long body, only the beginning is kept. */
  readonly text: string;
  /** The time that the connection may be idle before it is reused, in ms; 0 means that it must be closed now. */
  readonly keptMs: number;
}

const HEAD_BYTES_MAX = 64 * 1024;
/** Bytes of a response beyond this limit are read and discarded. */
const TEXT_BYTES_MAX = 64 * 1024;
const NONE = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const CONTINUE = 100;
const NO_BODY = [204, 304];

/** The part to read next. For a body or chunk, `left` is the number of bytes remaining. */
type Next = 'head' | 'body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailer' | 'body until the end';

/**
 * Parses the responses of one connection, one after another. Node's own client costs three times as much per response:
 * it creates an object for the headers, a stream even for a body that arrives in one piece, and events for every step.
 */
export class ResponseReader {
  private next: Next = 'head';
  private unread: Buffer = NONE;
  private left = 0;
  private status = 0;
  private keptMs = 0;
  private body: Buffer[] = [];
  private bodyBytes = 0;

  /**
   * Returns the response that these bytes complete, if any. The caller may overwrite the bytes afterwards. Throws if
   * the bytes are not a response.
   */
  push(bytes: Buffer): Response | undefined {
    this.unread = this.unread.length === 0 ? bytes : Buffer.concat([this.unread, bytes]);
    for (;;) {
      const isDone = this.step();
      if (isDone) break;
      if (isDone === undefined) {
        this.unread = this.unread.length === 0 ? NONE : Buffer.from(this.unread);
        return undefined;
      }
    }
    // If bytes follow the end of a response, do not reuse the connection, because they answer no request.
    if (this.unread.length > 0) this.keptMs = 0;
    this.unread = NONE;
    return this.take();
  }

  /** Returns the response that the end of the connection completes, if any. */
  end(): Response | undefined {
    return this.next === 'body until the end' ? this.take() : undefined;
  }

  /** Parses the next part. Returns true if the response is complete, and undefined if more bytes are needed. */
  private step(): boolean | undefined {
    switch (this.next) {
      case 'head':
        return this.head();
      case 'body':
        return this.piece() ? true : undefined;
      case 'chunk size':
        return this.chunkSize();
      case 'chunk':
        return this.piece() ? this.go('chunk end') : undefined;
      case 'chunk end':
        return this.chunkEnd();
      case 'trailer': {
        const line = this.line();
        return line === undefined ? undefined : line === '';
      }
      case 'body until the end':
        this.left = this.unread.length;
        this.piece();
        return undefined;
    }
  }

  private go(next: Next): false {
    this.next = next;
    return false;
  }

  private head(): boolean | undefined {
    const end = this.unread.indexOf(HEAD_END);
    if (end === -1 && this.unread.length > HEAD_BYTES_MAX) throw new Error('the head of the answer has no end');
    if (end === -1) return undefined;
    const head = this.unread.toString('latin1', 0, end + 2);
    this.unread = this.unread.subarray(end + HEAD_END.length);
    const [, minor, status] = /^HTTP\/1\.([01]) (\d{3})[ \r]/.exec(head) ?? [];
    if (status === undefined) throw new Error('the answer is not of HTTP/1.1');
    this.status = Number(status);
    // An informational status (1xx) is followed by a further response.
    if (this.status >= CONTINUE && this.status < 200) return this.go('head');
    this.keptMs = keptMsOf(head, minor === '1');
    if (NO_BODY.includes(this.status)) return true;
    if ((head.match(LENGTHS)?.length ?? 0) > 1) throw new Error('the answer says more than once how long it is');
    const coding = findHeader(TRANSFER_ENCODING, head);
    if (coding !== undefined && /chunked$/i.test(coding)) return this.go('chunk size');
    const length = coding === undefined ? findHeader(CONTENT_LENGTH, head) : undefined;
    if (length === undefined) {
      this.keptMs = 0;
      return this.go('body until the end');
    }
    if (!/^\d+$/.test(length)) throw new Error(`the answer has ${length} as its length`);
    this.left = Number(length);
    return this.go('body');
  }

  private chunkSize(): boolean | undefined {
    const line = this.line();
    if (line === undefined) return undefined;
    const [, size] = /^([\da-f]{1,8})[ \t]*(?:;|$)/i.exec(line) ?? [];
    if (size === undefined) throw new Error('the answer has a chunk without a size');
    this.left = Number.parseInt(size, 16);
    return this.go(this.left === 0 ? 'trailer' : 'chunk');
  }

  private chunkEnd(): false | undefined {
    const line = this.line();
    if (line === undefined) return undefined;
    if (line !== '') throw new Error('the answer has a chunk that is longer than its size');
    return this.go('chunk size');
  }

  private line(): string | undefined {
    const end = this.unread.indexOf('\r\n');
    if (end === -1 && this.unread.length > HEAD_BYTES_MAX) throw new Error('the answer has a line without an end');
    if (end === -1) return undefined;
    const line = this.unread.toString('latin1', 0, end);
    this.unread = this.unread.subarray(end + 2);
    return line;
  }

  /** Reads up to `left` bytes. Returns true if all of them have arrived. */
  private piece(): boolean {
    const piece = this.unread.subarray(0, this.left);
    if (this.bodyBytes < TEXT_BYTES_MAX) this.body.push(Buffer.from(piece));
    this.bodyBytes += piece.length;
    this.left -= piece.length;
    this.unread = this.unread.subarray(piece.length);
    return this.left === 0;
  }

  private take(): Response {
    const { status, keptMs, body } = this;
    const text = (body.length === 1 ? (body[0] as Buffer) : Buffer.concat(body)).toString();
    this.next = 'head';
    this.body = [];
    this.bodyBytes = 0;
    return { status, text, keptMs };
  }
}

const TRANSFER_ENCODING = /\ntransfer-encoding:[ \t]*(.*?)[ \t]*\r/i;
const CONTENT_LENGTH = /\ncontent-length:[ \t]*(.*?)[ \t]*\r/i;
const LENGTHS = /\n(?:content-length|transfer-encoding):/gi;
const CONNECTION = /\nconnection:[ \t]*(.*?)[ \t]*\r/i;
const KEEP_ALIVE = /\nkeep-alive:.*?timeout=(\d+)/i;
/** Safety margin: a server may close an idle connection shortly before a request in transit arrives. */
const CLOSES_EARLIER_MS = 1000;

function findHeader(header: RegExp, head: string): string | undefined {
  return header.exec(head)?.[1];
}

function keptMsOf(head: string, isKeptUnlessSaid: boolean): number {
  const connection = findHeader(CONNECTION, head);
  const isKept = isKeptUnlessSaid ? !/close/i.test(connection ?? '') : /keep-alive/i.test(connection ?? '');
  if (!isKept) return 0;
  const seconds = findHeader(KEEP_ALIVE, head);
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(Number(seconds) * 1000 - CLOSES_EARLIER_MS, 1);
}
