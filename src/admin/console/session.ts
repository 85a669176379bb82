import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import type { OperatorRole, OperatorToken } from '../admin-deps.js';
import { isCount, isObject } from '../cursor.js';
import type { SignedOutSessions } from './signed-out-sessions.js';

/**
 * Duration of a session: a working day. Sessions are never extended, so a stolen cookie is valid for at most this long.
 */
export const SESSION_MS = 12 * 3600 * 1000;
const NONCE_BYTES = 16;
/** Maximum length of a cookie, whose payload contains a name that the settings may make long. */
const COOKIE_LENGTH_MAX = 4096;

/** A session of a signed-in operator. */
export interface ConsoleSession {
  readonly id: string;
  readonly name: string;
  readonly role: OperatorRole;
  readonly endsMs: number;
  /**
   * The token that a request must carry to change something. A page of another site can make the browser send the
   * cookie, but cannot read this token.
   */
  readonly csrf: string;
}

/**
 * Sessions of the console. The cookie is the session, and no node stores it. Every node of a cluster accepts the cookie,
 * even after a restart, and sessions use no memory. The cookie is signed with a key derived from the operator's token, so
 * the session ends when the token is withdrawn. Nodes store only the few sessions that were signed out.
 *
 *   cookie  payload . signature       payload  base64url of {"name", "endsMs", "nonce"}
 */
export class Sessions {
  private readonly byName: ReadonlyMap<string, { readonly role: OperatorRole; readonly key: Buffer }>;

  /**
   * The keys are derived from the store's ID as well, so that two systems with the same token do not share sessions.
   */
  constructor(
    tokens: readonly OperatorToken[],
    storeId: string,
    private readonly clock: Clock,
    private readonly signedOut: Pick<SignedOutSessions, 'has'>,
  ) {
    this.byName = new Map(
      tokens.map(({ name, role, token }) => [name, { role, key: sign(token, `console session of ${storeId}`) }]),
    );
  }

  /** Begins a session and returns its cookie value. */
  begin(name: string): string {
    const endsMs = this.clock.now() + SESSION_MS;
    const content = { name, endsMs, nonce: randomBytes(NONCE_BYTES).toString('base64url') };
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    const known = this.byName.get(name);
    if (known === undefined) throw new Error(`there is no operator ${name}`);
    return `${payload}.${sign(known.key, `session ${payload}`).toString('base64url')}`;
  }

  /** The session of this cookie; undefined if the cookie is not ours or the session has ended. */
  tryRead(cookie: string): ConsoleSession | undefined {
    if (cookie.length > COOKIE_LENGTH_MAX) return undefined;
    const [payload = '', signature = ''] = cookie.split('.');
    const content = parseContent(payload);
    const known = content && this.byName.get(content.name);
    if (known === undefined || content === undefined) return undefined;
    if (!isEqual(signature, sign(known.key, `session ${payload}`))) return undefined;
    if (content.endsMs <= this.clock.now()) return undefined;
    const { name, endsMs, nonce } = content;
    if (this.signedOut.has(name, nonce, endsMs)) return undefined;
    return {
      id: nonce,
      name,
      role: known.role,
      endsMs,
      csrf: sign(known.key, `csrf ${payload}`).toString('base64url'),
    };
  }
}

/** Compares untrusted text in constant time. */
export function isEqual(given: string, wanted: string | Buffer): boolean {
  const bytes = Buffer.from(given, 'base64url');
  const other = typeof wanted === 'string' ? Buffer.from(wanted, 'base64url') : wanted;
  return bytes.length === other.length && timingSafeEqual(bytes, other);
}

function parseContent(payload: string): { name: string; endsMs: number; nonce: string } | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (!isObject(value) || typeof value.name !== 'string' || !isCount(value.endsMs)) return undefined;
    return typeof value.nonce === 'string' ? { name: value.name, endsMs: value.endsMs, nonce: value.nonce } : undefined;
  } catch {
    return undefined;
  }
}

function sign(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
