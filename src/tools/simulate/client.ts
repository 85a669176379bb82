import { Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { messageOf } from '../../base/message-of.js';
import type { Signature } from './message.js';

/** The headers that sign this body at this time (milliseconds). */
export type Sign = (body: string, atMs: number) => Readonly<Record<string, string>>;

/** What came back; no status: nothing, because of `why`. */
export interface Reply {
  readonly status?: number | undefined;
  /** Empty when it is not a JSON object. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly why?: string | undefined;
}

/** A day: no operator takes a signature that is so old. */
const OLD_MS = 86_400_000;
/** Connections to one operator; there are no more than histories at a time, and messages that they send at once. */
const CONNECTIONS_MAX = 1024;
/** Longer answers are cut off. */
const TEXT_MAX = 64 * 1024;

/** Sends to one operator, over connections that are kept. */
export class Client {
  private readonly agent: HttpAgent | HttpsAgent;
  private readonly send: typeof overHttp;

  /** The URL in parts: to take it apart for each request costs a tenth of it. */
  private readonly server: { readonly host: string; readonly port: string };
  private readonly folder: string;
  /** As a flat list, which Node sends as it is: each header that it looks at costs time. */
  private readonly headers: readonly string[];

  constructor(
    /** Without a slash at its end. */
    url: string,
    private readonly timeoutMs: number,
    private readonly sign: Sign | undefined,
  ) {
    const { protocol, host, hostname, port, pathname } = new URL(url);
    const isTls = protocol === 'https:';
    this.server = { host: hostname.replace(/^\[|\]$/g, ''), port: port || (isTls ? '443' : '80') };
    this.folder = pathname.replace(/\/$/, '');
    this.headers = ['Host', host, 'Content-Type', 'application/json'];
    const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX, maxFreeSockets: CONNECTIONS_MAX };
    this.agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
    this.send = isTls ? overHttps : overHttp;
  }

  get signs(): boolean {
    return this.sign !== undefined;
  }

  /** Never rejects. */
  post(path: string, body: string, signature: Signature = 'right'): Promise<Reply> {
    return new Promise((resolve) => {
      const req = this.open(path, body, signature, this.agent);
      const timer = setTimeout(() => req.destroy(new Error(`no answer in ${this.timeoutMs} ms`)), this.timeoutMs);
      const end = (reply: Reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
      const fail = (error: Error) => end({ fields: {}, text: '', why: messageOf(error) });
      req.on('response', (response) => readReply(response, end, fail));
      req.on('error', fail);
      // All that this turn of the event loop sends leaves together: an operator that is woken for each one gets less done.
      setImmediate(() => req.end(body));
    });
  }

  /** Sends the request on a connection of its own, and cuts that without waiting for the answer. */
  cut(path: string, body: string): Promise<void> {
    return new Promise((resolve) => {
      const req = this.open(path, body, 'right', undefined);
      req.on('error', () => {});
      req.on('close', resolve);
      // The request has left; it is chance whether the operator is already done.
      req.on('finish', () => setImmediate(() => req.destroy()));
      req.end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }

  private open(path: string, body: string, signature: Signature, agent: HttpAgent | HttpsAgent | undefined) {
    const length = ['Content-Length', String(Buffer.byteLength(body))];
    const headers = [...this.headers, ...length, ...Object.entries(this.signed(body, signature)).flat()];
    const options = { ...this.server, path: this.folder + path, method: 'POST', headers };
    return this.send({ ...options, agent: agent ?? false });
  }

  private signed(body: string, signature: Signature): Readonly<Record<string, string>> {
    if (this.sign === undefined || signature === 'missing') return {};
    const now = Date.now();
    return this.sign(signature === 'wrong' ? `${body} ` : body, signature === 'old' ? now - OLD_MS : now);
  }
}

function readReply(response: IncomingMessage, resolve: (reply: Reply) => void, fail: (error: Error) => void): void {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    if (text.length < TEXT_MAX) text += chunk;
  });
  response.on('error', fail);
  response.on('end', () => {
    if (!response.complete) fail(new Error('the answer was cut off'));
    else resolve({ status: response.statusCode, fields: fieldsOf(text), text });
  });
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
