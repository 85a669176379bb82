import { ENDPOINTS } from '../../src/callback/callbacks.js';
import type { HttpAnswer, OpenApiDocument } from '../support/openapi-document.js';
import type { Exchange } from './exchange.js';
import { Finding } from './finding.js';
import type { Listener, RequestLine, Sending } from './sending.js';

/**
 * Statuses that the callback listener's HTTP library returns by itself. Node's own HTTP returns them without a body
 * (docs/limits.md).
 */
const REFUSAL_STATUSES = [400, 417, 431, 505];
const REFUSAL = /^<h1>[\w ]+<\/h1>(?:<p>[^<]*<\/p>)?<hr><i>uWebSockets\/20 Server<\/i>$/;
/** The answer of the operator API's HTTP library. */
const CLIENT_ERROR = /^\{"type":"about:blank","title":"[\w ]+","status":4\d\d,"detail":"the request cannot be read",/;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CALLBACKS = ENDPOINTS.map((endpoint) => `/${endpoint}`);
/** Statuses that Node returns without a body: for a missing Host, an unknown Expect, and refused HEAD requests. */
const BARE_REFUSALS = [400, 417, 431];
/** The reason of an answer that is returned before authentication. */
const BAD_URL = /is not a valid url component/;
const HEALTH = /^\/(?:livez|readyz)(?:\?.*)?$/;

/**
 * Listeners that answer with a single line. The constants below list their statuses, and those that Node returns for
 * malformed requests.
 */
type PlainListener = Exclude<Listener, 'callbacks' | 'operator'>;
const PLAIN_STATUSES: Readonly<Record<PlainListener, readonly number[]>> = {
  health: [200, 404, 405],
  early: [200, 503],
  nodes: [101, 426, 405],
};
const UNREADABLE_STATUSES = [400, 408, 417, 431];
const HELLO_FRAME_BYTES = 35;
const HELLO_FRAME = Buffer.from([0x82, 33, 2]);
const CLOSE_FRAME = 0x88;
const PONG_FRAME = 0x8a;

/** Checks answers against the documentation. */
export class Judge {
  /** Operations of the operator API, from the document. */
  private readonly operations: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(
    private readonly document: OpenApiDocument,
    /** True if callbacks must be signed and operators need tokens. */
    private readonly isGuarded: boolean,
  ) {
    const paths = Object.keys(document.content.paths).filter((path) => !CALLBACKS.includes(path));
    this.operations = paths.map((path) => ({
      path,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?.*)?$`),
    }));
  }

  /** Throws a `Finding` if an answer is undocumented. */
  check({ sending, received, parser }: Exchange): void {
    if (isPlain(sending.to)) {
      checkPlain({ sending, received, parser });
      return;
    }
    const complaint = this.findComplaint(sending, parser.answers, received) ?? parser.error;
    if (complaint !== undefined) throw new Finding(complaint, sending.parts, received);
  }

  private findComplaint(sending: Sending, answers: readonly HttpAnswer[], received: Buffer): string | undefined {
    const { requests, areSound, to } = sending;
    if (areSound && requests.length > 0 && answers.length > requests.length) {
      return `${answers.length} answers to ${requests.length} requests`;
    }
    for (const [n, answer] of answers.entries()) {
      const complaint =
        to === 'callbacks' ? this.ofCallback(sending, answer, received) : this.ofOperator(sending, n, answer);
      if (complaint !== undefined) return complaint;
    }
    return undefined;
  }

  private ofCallback({ isAuthentic, requests }: Sending, answer: HttpAnswer, received: Buffer): string | undefined {
    const { status, text } = answer;
    const isToHead = requests[0]?.method === 'HEAD';
    if (REFUSAL_STATUSES.includes(status) && (REFUSAL.test(text) || text === '')) return undefined;
    if (this.isGuarded && !isAuthentic && (status === 200 || status === 400)) {
      return `a callback that is not signed was looked at: HTTP ${status}`;
    }
    if (isToHead) return received.subarray(-4).equals(END_OF_HEAD) ? undefined : 'an answer to HEAD has a body';
    // All endpoints except checkBalance, and unknown paths, answer in the same format.
    const path = text.includes('"balance":') ? '/checkBalance' : '/placeBets';
    return this.document.findComplaint('post', path, answer);
  }

  private ofOperator({ isAuthentic, requests }: Sending, n: number, answer: HttpAnswer): string | undefined {
    const { status, text } = answer;
    if (CLIENT_ERROR.test(text) || (text === '' && BARE_REFUSALS.includes(status))) return undefined;
    if (status >= 500 && status !== 503) return `HTTP ${status}`;
    // The root leads to the console, and reveals nothing else.
    if (status === 302 && text === '') return undefined;
    const line = requests[n];
    const isPublic = HEALTH.test(line?.target ?? '') || BAD_URL.test(text);
    if (this.isGuarded && !isAuthentic && status !== 401 && status !== 429 && !isPublic) {
      return `a call without a token was looked at: HTTP ${status}`;
    }
    if (line?.method === 'HEAD') return undefined;
    const known = line && this.maybeOperation(line);
    if (known !== undefined) return this.document.findComplaint(known.method, known.path, answer);
    return this.ofNoOperation(answer);
  }

  private maybeOperation({ method, target }: RequestLine): { method: string; path: string } | undefined {
    const path = this.operations.find(({ pattern }) => pattern.test(target))?.path;
    const name = method.toLowerCase();
    if (path === undefined || this.document.content.paths[path]?.[name] === undefined) return undefined;
    return { method: name, path };
  }

  /** Checks the answer to a request that matches no operation, which must be a client error. */
  private ofNoOperation({ status, contentType, text }: HttpAnswer): string | undefined {
    if (contentType.split(';')[0] !== 'application/problem+json') return `HTTP ${status} as ${contentType}`;
    const isProblem = this.document.schemaAt('components', 'schemas', 'Problem');
    const problem = maybeJson(text);
    if (!isProblem(problem)) return `no problem: ${JSON.stringify(isProblem.errors)}`;
    return (problem as { status: number }).status === status ? undefined : 'a problem of another status';
  }
}

/** Throws a `Finding` if a listener that may send only a single line, or nothing, has sent another answer. */
export function checkPlain({ sending, received, parser }: Exchange): void {
  const { to } = sending;
  if (!isPlain(to)) throw new Error(`answers of ${to} are those of a document`);
  const complaint = complaintOfPlain(to, sending, parser.answers, received) ?? parser.error;
  if (complaint !== undefined) throw new Finding(complaint, sending.parts, received);
}

function isPlain(listener: Listener): listener is PlainListener {
  return listener in PLAIN_STATUSES;
}

function complaintOfPlain(
  to: PlainListener,
  { requests, areSound }: Sending,
  answers: readonly HttpAnswer[],
  received: Buffer,
): string | undefined {
  if (areSound && requests.length > 0 && answers.length > requests.length)
    return `${answers.length} answers to ${requests.length} requests`;
  const known = [...PLAIN_STATUSES[to], ...UNREADABLE_STATUSES];
  const other = answers.find(({ status }) => !known.includes(status));
  if (other !== undefined) return `HTTP ${other.status} of the listener ${to}`;
  return answers.some(({ status }) => status === 101) ? findRevealingFrame(received) : undefined;
}

/** Finds a frame that reveals more to an unknown process than the protocol version and a random number. */
function findRevealingFrame(received: Buffer): string | undefined {
  let rest = received.subarray(received.indexOf(END_OF_HEAD) + END_OF_HEAD.length);
  if (rest.subarray(0, HELLO_FRAME.length).equals(HELLO_FRAME)) rest = rest.subarray(HELLO_FRAME_BYTES);
  while (rest.length > 1) {
    const [kind, length = 0] = rest;
    if (kind !== CLOSE_FRAME && kind !== PONG_FRAME) return `a stranger was sent a frame ${kind}`;
    rest = rest.subarray(2 + length);
  }
  return undefined;
}

function maybeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
