import { randomBytes } from 'node:crypto';
import { Agent, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { isSameProof, PROOF_PATH, remoteAddressOf, TokenProof } from '../listener/token-proof.js';
import { ToolError } from './store-reader.js';

const NONCE_BYTES = 32;
/** Maximum number of attempts. A server may close an idle connection at the moment when it is reused. */
const ATTEMPTS_MAX = 3;

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  /** Ends the exchange early. */
  readonly stop?: AbortSignal | undefined;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Thrown if the server has not proved that it knows the token. `reply` is its answer to the proof request. */
export class UnprovenServer extends ToolError {
  constructor(
    message: string,
    readonly reply: Reply,
  ) {
    super(message);
  }
}

/** A connection that carries one request at a time. */
interface Line {
  readonly agent: Agent;
  /** The socket whose other end has proved that it knows the token. */
  proven: Socket | undefined;
}

/**
 * Sends requests to a server over plain HTTP. Sends the token only on connections whose other end has proved that it
 * knows the token.
 */
export class ProvenServer {
  private readonly idle: Line[] = [];
  private readonly proof: TokenProof;

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {
    this.proof = new TokenProof(token);
  }

  async ask(exchange: Exchange): Promise<Reply> {
    const line = this.idle.pop() ?? { agent: new Agent({ keepAlive: true, maxSockets: 1 }), proven: undefined };
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        if (line.proven === undefined || line.proven.destroyed) await this.prove(line, exchange.timeoutMs);
        const { socket, reply } = await this.send(line, exchange);
        if (reply !== undefined) return reply;
        if (socket !== line.proven) line.proven = undefined;
      }
      throw new ToolError(`the program at ${this.url} closes each connection after an answer: use TLS`);
    } finally {
      this.idle.push(line);
    }
  }

  private send(line: Line, exchange: Exchange) {
    const headers = { ...exchange.headers, Authorization: `Bearer ${this.token}` };
    const options = { agent: line.agent, mayBeSentOn: (socket: Socket) => socket === line.proven };
    return exchangeWith(this.url, { ...exchange, headers }, options);
  }

  private async prove(line: Line, timeoutMs: number): Promise<void> {
    line.proven = undefined;
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const body = JSON.stringify({ nonce, proof: this.proof.ofTool(nonce) });
    const headers = { 'Content-Type': 'application/json' };
    const asked = { method: 'POST', path: PROOF_PATH, headers, body, timeoutMs };
    const { socket, address, reply } = await exchangeWith(this.url, asked, { agent: line.agent });
    const shown = reply?.status === 200 ? tryProof(reply.text) : undefined;
    if (shown === undefined || !isSameProof(shown.proof, this.proof.ofServer(nonce, shown.address))) {
      throw new UnprovenServer(unprovenSentence(this.url), reply ?? { status: 0, text: '' });
    }
    if (shown.address !== address) {
      throw new ToolError(
        `the server at ${this.url} was reached at ${shown.address} by a program that listens at ${address}: the token was not ` +
          'sent. Through a proxy or a forwarded port, use TLS, or forward the same port of the same address',
      );
    }
    line.proven = socket;
  }
}

function unprovenSentence(url: string): string {
  return (
    `the program at ${url} has not proved that it knows the token, so the token was not sent: a walletd of an older release cannot do so ` +
    '(upgrade it, or use TLS), and no other program should get the token'
  );
}

function tryProof(text: string): { readonly address: string; readonly proof: string } | undefined {
  try {
    const { address, proof } = JSON.parse(text) as { address?: unknown; proof?: unknown };
    return typeof address === 'string' && typeof proof === 'string' ? { address, proof } : undefined;
  } catch {
    return undefined;
  }
}

interface ExchangeOptions {
  /** Options for certificate checks, passed on to `node:https`. */
  readonly tls?: object;
  readonly agent?: Agent;
  /** Called before anything is sent. Returns true if the request may be sent on this socket. */
  readonly mayBeSentOn?: (socket: Socket) => boolean;
}

interface Exchanged {
  readonly socket: Socket;
  /** The address of the other end of the connection. */
  readonly address: string;
  /** Undefined if the request was not allowed on this connection, in which case nothing was sent. */
  readonly reply: Reply | undefined;
}

/** Sends one request and resolves to its answer. Rejects with the connection error. */
export function exchangeWith(
  url: string,
  { method, path, headers, body, timeoutMs, stop }: Exchange,
  { tls, agent, mayBeSentOn = () => true }: ExchangeOptions = {},
): Promise<Exchanged> {
  const request = url.startsWith('https:') ? tlsRequest : plainRequest;
  const late = AbortSignal.timeout(timeoutMs);
  const signal = stop === undefined ? late : AbortSignal.any([late, stop]);
  return new Promise((resolve, reject) => {
    let reply: Reply | undefined;
    let address = '';
    const sent = request(url + path, { method, headers, signal, ...(agent && { agent }), ...tls });
    sent.on('socket', (socket: Socket) => {
      if (mayBeSentOn(socket)) {
        sent.end(body);
        // Resolve on `close`, because the agent returns the connection to its pool only then.
        sent.on('close', () => {
          if (reply === undefined) reject(new Error('it closed the connection without an answer'));
          else resolve({ socket, address, reply });
        });
      } else {
        sent.on('error', () => {});
        sent.destroy();
        resolve({ socket, address, reply: undefined });
      }
    });
    sent.on('response', (res) => {
      address = remoteAddressOf(res.socket);
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (data: string) => {
        text += data;
      });
      res.on('error', reject);
      res.on('end', () => {
        reply = { status: res.statusCode as number, text };
      });
    });
    sent.on('error', reject);
  });
}
