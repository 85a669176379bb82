import { parseExact, toJson } from './json.js';

/** Failed call, with a human-readable message. */
export class CallError extends Error {
  constructor(
    /** HTTP status of the answer; 0 if there was no answer. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** True if the outcome of the call is unknown. */
  get isUnanswered(): boolean {
    return this.status === 0;
  }
}

export interface Visitor {
  readonly name: string;
  readonly role: 'read' | 'operate';
  readonly csrf: string | null;
}

let csrf: string | null = null;
/** Called when an answer shows that the session has ended. */
let onSignedOut = () => {};

export function whenSignedOut(hear: () => void): void {
  onSignedOut = hear;
}

/** Fetches the visitor of the current session; undefined without a session. */
export async function readVisitor(): Promise<Visitor | undefined> {
  try {
    return remember((await call('GET', '/console/session')) as Visitor);
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return undefined;
    throw error;
  }
}

export async function signIn(token: string): Promise<Visitor> {
  return remember((await call('POST', '/console/session', { token })) as Visitor);
}

export async function signOut(): Promise<void> {
  await call('DELETE', '/console/session');
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call('GET', path, undefined, signal)) as T;
}

export async function post<T>(path: string, body?: object): Promise<T> {
  return (await call('POST', path, body)) as T;
}

/**
 * Sends JSON lines and returns the answers. A complete answer ends with a line of totals, which is not returned. If
 * that line is missing, the answer was cut off.
 */
export async function postLines(
  path: string,
  lines: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const response = await ask('POST', path, new Blob([lines], { type: 'application/x-ndjson' }), signal);
  const answers = (await answered(response.text(), signal)).trim().split('\n').map(parseExact);
  const last = answers.pop();
  if (typeof last === 'object' && last !== null && 'created' in last) {
    if ('cut' in last) throw new CallError(0, `walletd did not process every line: ${last.cut}.`);
    return answers;
  }
  throw new CallError(0, 'walletd does not answer.');
}

/**
 * Encodes one segment of a path. Browsers treat `.` and `..` as folders even when they are encoded, and would request a
 * different path.
 */
export function partOf(name: string): string {
  if (name === '.' || name === '..') {
    throw new CallError(400, `A browser cannot request the name “${name}”: use the API (curl --path-as-is).`);
  }
  return encodeURIComponent(name);
}

function remember(visitor: Visitor): Visitor {
  ({ csrf } = visitor);
  return visitor;
}

async function call(method: string, path: string, body?: object, signal?: AbortSignal): Promise<unknown> {
  const response = await ask(method, path, body, signal);
  return parseExact(await answered(response.text(), signal));
}

/** Streams an answer of JSON lines to `hear` as the lines arrive. */
export async function getLines<T>(path: string, signal: AbortSignal, hear: (line: T) => void): Promise<void> {
  const { body } = await ask('GET', path, undefined, signal);
  const reader = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value = '' } = await answered(reader.read(), signal);
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) hear(parseExact(line) as T);
    if (done) return;
  }
}

/** Sends a request. Resolves when a successful answer begins. A body that is not a blob is sent as JSON. */
async function ask(method: string, path: string, body?: object, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = {};
  if (csrf !== null) headers['X-Walletd-Csrf'] = csrf;
  if (body !== undefined) headers['Content-Type'] = body instanceof Blob ? body.type : 'application/json';
  const init: RequestInit = { method, headers, cache: 'no-store' };
  if (body !== undefined) init.body = body instanceof Blob ? body : toJson(body);
  if (signal !== undefined) init.signal = signal;
  const response = await answered(fetch(path, init), signal);
  if (response.ok) return response;
  const text = await answered(response.text(), signal);
  if (response.status === 401 && !path.startsWith('/console/session')) onSignedOut();
  throw new CallError(response.status, detailOf(text) ?? `walletd answered ${response.status}.`);
}

/** Reports a failed connection as a missing answer, unless this page aborted the call itself. */
async function answered<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError(0, 'walletd does not answer.');
  }
}

/** The detail of a problem response (RFC 9457). */
function detailOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { detail?: string }).detail;
  } catch {
    return undefined;
  }
}
