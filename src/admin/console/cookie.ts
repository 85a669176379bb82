import type { FastifyRequest } from 'fastify';
import { SESSION_MS } from './session.js';

/**
 * Number of characters of the store's ID in the cookie name. Browsers separate cookies by host but not by port, so two
 * systems on one machine need different cookie names.
 */
const ID_LENGTH = 8;

/** A cookie that carries a session. Scripts cannot read it, and other sites cannot make the browser send it. */
export class SessionCookie {
  private readonly name: string;

  constructor(
    storeId: string,
    private readonly hasTls: boolean,
  ) {
    this.name = `walletd-${storeId.replaceAll(/[^0-9a-zA-Z]/g, '').slice(0, ID_LENGTH)}`;
  }

  of(request: FastifyRequest): string | undefined {
    const wanted = this.nameFor(request);
    for (const pair of (request.headers.cookie ?? '').split(';')) {
      const [name, value] = pair.trim().split('=', 2);
      if (name === wanted) return value;
    }
    return undefined;
  }

  /** A header that sets the cookie. */
  set(request: FastifyRequest, value: string): string {
    return this.header(request, value, SESSION_MS / 1000);
  }

  /** A header that removes the cookie. */
  clear(request: FastifyRequest): string {
    return this.header(request, '', 0);
  }

  private header(request: FastifyRequest, value: string, seconds: number): string {
    const secure = this.isSecure(request) ? '; Secure' : '';
    return `${this.nameFor(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }

  /** With `__Host-`, browsers reject a cookie that was set by a sibling domain or sent without TLS. */
  private nameFor(request: FastifyRequest): string {
    return this.isSecure(request) ? `__Host-${this.name}` : this.name;
  }

  private isSecure({ headers }: FastifyRequest): boolean {
    return this.hasTls || headers['x-forwarded-proto'] === 'https';
  }
}
