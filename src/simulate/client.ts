import { messageOf } from '../base/message-of.js';
import { HungUp } from './http/connection.js';
import { Connections } from './http/connections.js';
import type { Response } from './http/response-reader.js';
import type { Signature } from './message.js';

/** Returns the headers that sign this body at this time (in ms). */
export type Sign = (body: string, atMs: number) => Readonly<Record<string, string>>;

/** Reply of the operator. If there is none, `status` is undefined and `why` contains the reason. */
export interface Reply {
  readonly status?: number | undefined;
  /** Empty if the reply is not a JSON object. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly why?: string | undefined;
  readonly lost?: Lost | undefined;
}

/** How a connection was lost: before its answer (`hung up`), or while it was opened (`refused`). */
export type Lost = 'hung up' | 'refused';

/** A header of every request: its name and its value. */
export type Header = readonly [name: string, value: string];

const USER_AGENT: Header = ['User-Agent', 'walletd-simulate'];
/** One day. No operator accepts a signature this old. */
const OLD_MS = 86_400_000;

/** Sends requests to one operator over reused connections. */
export class Client {
  private readonly connections: Connections;
  private readonly host: string;
  private readonly folder: string;
  /** Request lines and headers that stay the same, by path. */
  private readonly heads = new Map<string, string>();
  /** Number of requests whose connection was lost. */
  lostCount = 0;
  /** Number of requests that got an answer. */
  answeredCount = 0;
  /** Number of requests that got an answer with `statusCode` 0, as a number or as text. */
  acceptedCount = 0;

  constructor(
    /** URL without a trailing slash. */
    url: string,
    private readonly timeoutMs: number,
    private readonly sign: Sign | undefined,
    /** Headers in addition to those of HTTP, of JSON and of the signature. */
    private readonly headers: readonly Header[] = [],
  ) {
    const { protocol, host, hostname, port, pathname } = new URL(url);
    const isTls = protocol === 'https:';
    const server = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isTls ? 443 : 80)), isTls };
    this.connections = new Connections(server);
    this.host = host;
    this.folder = pathname.replace(/\/$/, '');
  }

  get signs(): boolean {
    return this.sign !== undefined;
  }

  get headerNames(): readonly string[] {
    return this.headers.map(([name]) => name);
  }

  /** Sends a request and resolves to the reply. Never rejects. */
  post(path: string, body: string, signature: Signature = 'right'): Promise<Reply> {
    const request = this.requestOf(path, body, signature, 'keep-alive');
    return new Promise((resolve) => {
      this.connections.send(request, this.timeoutMs, (got) => {
        const reply = replyOf(got);
        if (String(reply.fields.statusCode) === '0') this.acceptedCount++;
        if (reply.status !== undefined) this.answeredCount++;
        else if (reply.lost !== undefined) this.lostCount++;
        resolve(reply);
      });
    });
  }

  /** Sends the request on its own connection, and closes the connection without waiting for the answer. */
  cut(path: string, body: string): Promise<void> {
    return this.connections.cut(this.requestOf(path, body, 'right', 'close'));
  }

  /** True if the operator accepts a connection. */
  isUp(): Promise<boolean> {
    return this.connections.accepts(this.timeoutMs);
  }

  close(): void {
    this.connections.close();
  }

  private requestOf(path: string, body: string, signature: Signature, connection: 'keep-alive' | 'close'): string {
    let head = `${this.headOf(path)}Connection: ${connection}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    for (const [name, value] of Object.entries(this.signed(body, signature))) head += `${name}: ${value}\r\n`;
    return `${head}\r\n${body}`;
  }

  private headOf(path: string): string {
    let head = this.heads.get(path);
    if (head === undefined) {
      // A path in a profile may contain characters that HTTP does not allow, or may already be encoded.
      const target = (this.folder + path).toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
      head = `POST ${target} HTTP/1.1\r\nHost: ${this.host}\r\nContent-Type: application/json\r\n`;
      const hasAgent = this.headerNames.some((name) => name.toLowerCase() === 'user-agent');
      const headers = hasAgent ? this.headers : [USER_AGENT, ...this.headers];
      for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
      this.heads.set(path, head);
    }
    return head;
  }

  private signed(body: string, signature: Signature): Readonly<Record<string, string>> {
    if (this.sign === undefined || signature === 'missing') return {};
    const now = Date.now();
    return this.sign(signature === 'wrong' ? `${body} ` : body, signature === 'old' ? now - OLD_MS : now);
  }
}

function replyOf(got: Response | Error): Reply {
  if (got instanceof Error) return { fields: {}, text: '', why: messageOf(got), lost: lostOf(got) };
  return { status: got.status, fields: fieldsOf(got.text), text: got.text };
}

function lostOf(error: Error): Lost | undefined {
  if (error instanceof HungUp) return 'hung up';
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'refused';
  return code === 'ECONNRESET' || code === 'EPIPE' ? 'hung up' : undefined;
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
