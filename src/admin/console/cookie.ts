import type { FastifyRequest } from 'fastify';
import { SESSION_MS } from './session.js';

/** A browser keeps cookies by host and not by port: two systems on one machine each have a name of their own. */
const ID_LENGTH = 8;

/** The cookie that holds a session. Scripts do not see it, and no other site can have it sent. */
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

  /** As the header that sets it. */
  set(request: FastifyRequest, value: string): string {
    return this.header(request, value, SESSION_MS / 1000);
  }

  /** As the header that removes it. */
  clear(request: FastifyRequest): string {
    return this.header(request, '', 0);
  }

  private header(request: FastifyRequest, value: string, seconds: number): string {
    const secure = this.isSecure(request) ? '; Secure' : '';
    return `${this.nameFor(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }

  /** `__Host-` has browsers refuse one that a neighbouring domain has set, or that came without TLS. */
  private nameFor(request: FastifyRequest): string {
    return this.isSecure(request) ? `__Host-${this.name}` : this.name;
  }

  private isSecure({ headers }: FastifyRequest): boolean {
    return this.hasTls || headers['x-forwarded-proto'] === 'https';
  }
}
