import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { RefusalLog } from '../telemetry/refusal-log.js';
import type { Operator } from '../wallet/state/operation.js';
import type { AdminObserver, OperatorToken, TokenRefusal } from './admin-deps.js';
import { Problem } from './problem.js';

/** What `read` may: everything else changes something. */
const READING_METHODS = ['GET', 'HEAD'];
/** Where no token is set only this machine can ask. */
const LOCAL_NAME = 'local';
const IPV4_IN_IPV6 = '::ffff:';
/** As the Host of a request: names under which a machine asks itself. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** Knows operators by their tokens. */
export class Authentication {
  private readonly tokens: readonly (Omit<OperatorToken, 'token'> & { readonly hash: Buffer })[];

  constructor(
    tokens: readonly OperatorToken[],
    private readonly refusals: RefusalLog,
    private readonly observer: AdminObserver,
  ) {
    this.tokens = tokens.map(({ name, role, token }) => ({ name, role, hash: hashOf(token) }));
  }

  /** Throws a `Problem` when the token is unknown, or its role does not allow the request. */
  operatorOf(request: FastifyRequest): Operator {
    const address = addressOf(request);
    if (this.tokens.length === 0) return this.local(request, address);
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const known = given === undefined ? undefined : this.find(given);
    if (known === undefined) {
      this.refuse(given === undefined ? 'no token' : 'wrong token', () => address);
      throw new Problem(401, 'send Authorization: Bearer with the token of an operator', 'unauthorized');
    }
    const { name, role } = known;
    if (role === 'read' && !READING_METHODS.includes(request.method)) {
      this.refuse('the role read', () => `${name} at ${address}`);
      throw new Problem(403, `the token of ${name} has the role read, which may only GET`, 'forbidden');
    }
    return { name, address };
  }

  /**
   * A web site can make a browser on this machine send requests in its name, also under a name of its own that it
   * points at 127.0.0.1. Both show in what a browser sends along.
   */
  private local({ headers }: FastifyRequest, address: string): Operator {
    const { host = '', origin } = headers;
    if (LOOPBACK_HOST.test(host) && (origin === undefined || origin.replace(/^https?:\/\//, '') === host)) {
      return { name: LOCAL_NAME, address };
    }
    this.refuse('not asked by this machine itself', () => address);
    const detail = 'without admin.token this answers what this machine asks under its own name, and no web site';
    throw new Problem(401, detail, 'unauthorized');
  }

  private refuse(reason: TokenRefusal, from: () => string): void {
    this.refusals.note(reason, from);
    this.observer.refused(reason);
  }

  /** Compares with all of them, and hashes, which have one length: so the time tells nothing about any. */
  private find(given: string): Omit<OperatorToken, 'token'> | undefined {
    const hash = hashOf(given);
    let found: Omit<OperatorToken, 'token'> | undefined;
    for (const one of this.tokens) if (timingSafeEqual(one.hash, hash)) found = one;
    return found;
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The other end of the connection; of one that is gone already nobody knows it. */
function addressOf(request: FastifyRequest): string {
  const address = request.socket.remoteAddress ?? 'unknown';
  return address.startsWith(IPV4_IN_IPV6) ? address.slice(IPV4_IN_IPV6.length) : address;
}
