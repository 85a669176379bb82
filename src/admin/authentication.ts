import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { describeCarried, isLoopbackHost, originOf } from '../listener/origin-guard.js';
import { isSameProof, localAddressOf, TokenProof, UNKNOWN_TOKEN } from '../listener/token-proof.js';
import { RefusalLog } from '../telemetry/refusal-log.js';
import type { Operator } from '../wallet/state/operation.js';
import type { AdminObserver, AdminSettings, OperatorRole, OperatorToken, TokenRefusal } from './admin-deps.js';
import { SessionCookie } from './console/cookie.js';
import { type ConsoleSession, isEqual, Sessions } from './console/session.js';
import type { SignedOutSessions } from './console/signed-out-sessions.js';
import { Problem } from './problem.js';
import { TokenThrottle } from './token-throttle.js';

/** Methods allowed for `read`; every other method changes something. */
const READING_METHODS = ['GET', 'HEAD'];
const MAY_ONLY = { monitor: 'read metrics, health, snapshots and the cluster', read: 'GET' } as const;
/** The operator name when no token is set and only this machine can send requests. */
const LOCAL_NAME = 'local';
const IPV4_IN_IPV6 = '::ffff:';
const CURE = 'without admin.token only programs and browsers of this machine may call (docs/proxies.md)';
/**
 * Values of `sec-fetch-site` that the console's own page sends. `none` means that the user typed the address or opened
 * a bookmark.
 */
const OWN_SITES: readonly unknown[] = [undefined, 'same-origin', 'none'];
const LOOPBACK = /^(127\.|::1$)/;
const ADDRESS_LENGTH_MAX = 64;
const ASK_WITH_TOKEN = 'send Authorization: Bearer with the token of an operator';
const CSRF_HEADER = 'x-walletd-csrf';

export interface Visitor {
  readonly name: string;
  readonly role: OperatorRole;
  /** Required in requests that change something; null if there is no session that could be misused. */
  readonly csrf: string | null;
}

interface KnownToken extends Omit<OperatorToken, 'token'> {
  readonly hash: Buffer;
  readonly proof: TokenProof;
}

/** Identifies operators by their tokens and console users by their sessions. */
export class Authentication {
  private tokens: readonly KnownToken[] = [];
  private sessions: Sessions;
  private readonly storeId: string;
  private readonly cookie: SessionCookie;
  private readonly throttle: TokenThrottle;
  private readonly refusals: RefusalLog;

  constructor(
    { tokens, storeId, tls }: Pick<AdminSettings, 'tokens' | 'storeId' | 'tls'>,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly observer: AdminObserver,
    private readonly signedOut: Pick<SignedOutSessions, 'has' | 'add'>,
  ) {
    this.storeId = storeId;
    this.sessions = this.setTokens(tokens);
    this.cookie = new SessionCookie(storeId, tls !== undefined);
    this.throttle = new TokenThrottle(clock);
    this.refusals = new RefusalLog(log, { code: 'operator-api-refused', message: 'operator API requests refused' });
  }

  /** Makes these tokens, and the sessions begun with them, valid from the next request on. */
  setTokens(tokens: readonly OperatorToken[]): Sessions {
    this.tokens = tokens.map(({ name, role, token }) => {
      return { name, role, hash: hashOf(token), proof: new TokenProof(token) };
    });
    const visitors = tokens.filter(({ role }) => role !== 'monitor');
    this.sessions = new Sessions(visitors, this.storeId, this.clock, this.signedOut);
    return this.sessions;
  }

  /**
   * The operator who sent the request. Throws a `Problem` if the caller is unknown or the role does not allow the
   * request.
   */
  operatorOf(request: FastifyRequest): Operator {
    const address = addressOf(request);
    if (this.tokens.length === 0) return this.local(request, address);
    const { authorization } = request.headers;
    const cookie = authorization === undefined ? this.cookie.of(request) : undefined;
    const { name, role } = cookie === undefined ? this.byToken(request, address) : this.bySession(request, cookie);
    if (role !== 'operate' && !isAllowed(role, request)) {
      this.refuse(`the role ${role}`, () => `${name} at ${address}`);
      throw new Problem(
        403,
        `the token of ${name} has the role ${role}, which may only ${MAY_ONLY[role]}`,
        'forbidden',
      );
    }
    return { name, address };
  }

  /** True if the caller has read access. A request without credentials does not count as a failed attempt. */
  isKnown(request: FastifyRequest): boolean {
    if (this.tokens.length === 0) return findForeignHeader(request) === undefined;
    if (request.headers.authorization === undefined && this.cookie.of(request) === undefined) return false;
    try {
      this.operatorOf(request);
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  /**
   * Begins a session for a caller with a valid token, and returns the header that sets its cookie. Throws a `Problem`
   * for any other caller.
   */
  signIn(request: FastifyRequest, token: string): { readonly setCookie: string; readonly visitor: Visitor } {
    this.mustBeOwnPage(request);
    const visitorAddress = visitorAddressOf(request);
    this.mustBeOpenFor(visitorAddress);
    const known = this.find(token);
    if (known === undefined) throw this.wrongToken(visitorAddress, token, 'no operator has this token');
    if (known.role === 'monitor') {
      this.refuse('the role monitor', () => `${known.name} at ${visitorAddress}`);
      throw new Problem(403, `the token of ${known.name} has the role monitor, which has no console`, 'forbidden');
    }
    const cookie = this.sessions.begin(known.name);
    const session = this.sessions.tryRead(cookie) as ConsoleSession;
    this.log.info({ by: { name: known.name, address: visitorAddress } }, 'operator signed in to the console');
    return { setCookie: this.cookie.set(request, cookie), visitor: visitorOf(session) };
  }

  /** Ends the session on all nodes, and returns the header that removes its cookie. */
  signOut(request: FastifyRequest): string {
    this.mustBeOwnPage(request);
    const session = this.sessions.tryRead(this.cookie.of(request) ?? '');
    if (session !== undefined) {
      this.signedOut.add(session.name, session.id, session.endsMs);
      const by = { name: session.name, address: visitorAddressOf(request) };
      this.log.info({ by }, 'operator signed out of the console');
    }
    return this.cookie.clear(request);
  }

  /** Console user who sent the request; undefined if the user must sign in first. */
  findVisitor(request: FastifyRequest): Visitor | undefined {
    if (this.tokens.length === 0) {
      // Answer 403 rather than 401, because without tokens there are no credentials to sign in with.
      const { name } = this.local(request, addressOf(request), 403);
      return { name, role: 'operate', csrf: null };
    }
    const session = this.sessions.tryRead(this.cookie.of(request) ?? '');
    return session && visitorOf(session);
  }

  /**
   * Proves to the caller that this server knows a token, after the caller has proved that it knows the token. Throws a
   * `Problem` for any other caller.
   */
  prove(
    request: FastifyRequest,
    { nonce, proof }: { readonly nonce: string; readonly proof: string },
  ): { readonly address: string; readonly proof: string } {
    const address = localAddressOf(request.socket);
    let known: KnownToken | undefined;
    for (const one of this.tokens) if (isSameProof(proof, one.proof.ofTool(nonce))) known = one;
    if (known !== undefined) return { address, proof: known.proof.ofServer(nonce, address) };
    const visitorAddress = visitorAddressOf(request);
    this.mustBeOpenFor(visitorAddress);
    throw this.wrongToken(visitorAddress, proof, 'no operator has this token', UNKNOWN_TOKEN);
  }

  private byToken(request: FastifyRequest, address: string): Pick<OperatorToken, 'name' | 'role'> {
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const known = given === undefined ? undefined : this.find(given);
    if (known !== undefined) return known;
    if (given === undefined) {
      this.refuse('no token', () => address);
      throw new Problem(401, ASK_WITH_TOKEN, 'unauthorized');
    }
    // Throttle only after the token check, so that programs with a valid token keep working even if they share an
    // address with a guesser.
    const visitorAddress = visitorAddressOf(request);
    this.mustBeOpenFor(visitorAddress);
    throw this.wrongToken(visitorAddress, given, ASK_WITH_TOKEN);
  }

  private mustBeOpenFor(address: string): void {
    if (!this.throttle.isClosedFor(address)) return;
    this.refuse('too many wrong tokens', () => address);
    throw new Problem(429, 'too many wrong tokens from your address: wait a minute', 'too-many-attempts');
  }

  private wrongToken(address: string, token: string, detail: string, code = 'unauthorized'): Problem {
    this.throttle.noteWrong(address, token);
    this.refuse('wrong token', () => address);
    return new Problem(401, detail, code);
  }

  private bySession(request: FastifyRequest, cookie: string): ConsoleSession {
    const session = this.sessions.tryRead(cookie);
    if (session === undefined) {
      this.refuse('no session', () => addressOf(request));
      throw new Problem(401, 'the session has ended: sign in again', 'unauthorized');
    }
    if (READING_METHODS.includes(request.method)) return session;
    this.mustBeOwnPage(request);
    const given = request.headers[CSRF_HEADER];
    if (typeof given === 'string' && isEqual(given, session.csrf)) return session;
    this.refuse('not sent by the console', () => `${session.name} at ${addressOf(request)}`);
    throw new Problem(403, `a change by a session requires its ${CSRF_HEADER}`, 'forbidden');
  }

  /**
   * Accepts only requests from this machine. A web page can make a browser on this machine send requests, even under
   * the site's own name if that name resolves to 127.0.0.1. A proxy on this machine forwards requests from any client.
   * Headers reveal both, unless a proxy is configured to add none.
   */
  private local(request: FastifyRequest, address: string, refusedWith: 401 | 403 = 401): Operator {
    const header = findForeignHeader(request);
    if (header === undefined) return { name: LOCAL_NAME, address };
    const detail = describeCarried(header, CURE);
    this.refuse('not sent by this machine itself', () => address, detail);
    throw new Problem(refusedWith, detail, refusedWith === 401 ? 'unauthorized' : 'forbidden');
  }

  private mustBeOwnPage(request: FastifyRequest): void {
    if (isOwnOrigin(request)) return;
    this.refuse('not sent by the console', () => addressOf(request));
    throw new Problem(403, 'this was sent by a page of another site', 'forbidden');
  }

  /** `sentence` is for the log and must come from a small fixed set. */
  private refuse(reason: TokenRefusal, from: () => string, sentence: string = reason): void {
    this.refusals.note(sentence, from);
    this.observer.refused(reason);
  }

  /**
   * Compares the given token with all tokens, using hashes of equal length, so that the time reveals nothing about any
   * token.
   */
  private find(given: string): Omit<OperatorToken, 'token'> | undefined {
    const hash = hashOf(given);
    let found: Omit<OperatorToken, 'token'> | undefined;
    for (const one of this.tokens) if (timingSafeEqual(one.hash, hash)) found = one;
    return found;
  }
}

function isAllowed(role: Exclude<OperatorRole, 'operate'>, { method, routeOptions }: FastifyRequest): boolean {
  return READING_METHODS.includes(method) && (role === 'read' || routeOptions.config.isForMonitors === true);
}

const visitorOf = ({ name, role, csrf }: ConsoleSession): Visitor => ({ name, role, csrf });

/** Lower-case name of a header that proves the request did not come from a program or the console on this machine. */
function findForeignHeader(request: FastifyRequest): string | undefined {
  const { headers } = request;
  if (!isLoopbackHost(headers.host ?? '')) return 'host';
  if (!isOwnOrigin(request)) return 'origin';
  if (!OWN_SITES.includes(headers['sec-fetch-site'])) return 'sec-fetch-site';
  return Object.keys(headers).find((name) => originOf(name) === 'proxy');
}

/** Browsers state the origin of the page that sends a request; other programs do not. */
function isOwnOrigin({ headers: { host = '', origin } }: FastifyRequest): boolean {
  return origin === undefined || origin.replace(/^https?:\/\//, '') === host;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The remote address of the connection; unknown if the connection is closed. */
function addressOf(request: FastifyRequest): string {
  const address = request.socket.remoteAddress ?? 'unknown';
  return address.startsWith(IPV4_IN_IPV6) ? address.slice(IPV4_IN_IPV6.length) : address;
}

/**
 * Behind a proxy on this machine, the address that the proxy saw: the last one listed, which a visitor cannot forge.
 */
function visitorAddressOf(request: FastifyRequest): string {
  const address = addressOf(request);
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim();
  return LOOPBACK.test(address) && forwarded ? forwarded.slice(0, ADDRESS_LENGTH_MAX) : address;
}
