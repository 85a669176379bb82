import { parseExact, toJson } from './json.js';

/** Why a call was not carried out, for people. */
export class CallError extends Error {
  constructor(
    /** 0: no answer came. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** Nothing is known of what became of the call. */
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
/** Called when a call finds that nobody is signed in any more. */
let onSignedOut = () => {};

export function whenSignedOut(hear: () => void): void {
  onSignedOut = hear;
}

/** Who is signed in; undefined: nobody. */
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

/** Sends lines of JSON; returns those of the answer, but for the last one, which has the sums: it shows that none is missing. */
export async function postLines(
  path: string,
  lines: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const response = await ask('POST', path, new Blob([lines], { type: 'application/x-ndjson' }), signal);
  const answers = (await answered(response.text(), signal)).trim().split('\n').map(parseExact);
  const last = answers.pop();
  if (typeof last === 'object' && last !== null && 'created' in last) {
    if ('cut' in last) throw new CallError(0, `walletd has not carried all lines out: ${last.cut}.`);
    return answers;
  }
  throw new CallError(0, 'walletd does not answer.');
}

/**
 * A part of a path. Browsers take `.` and `..` for folders, however they are written, and would ask for something else.
 */
export function partOf(name: string): string {
  if (name === '.' || name === '..') {
    throw new CallError(400, `A browser cannot ask for the name “${name}”: use the API (curl --path-as-is).`);
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

/** Hands on an answer of a JSON object a line while it comes. */
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

/** Resolves when the answer begins, if it is none of an error. A body that is no blob is sent as JSON. */
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

/** A connection that fails is no answer, unless it was we who gave it up. */
async function answered<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallError(0, 'walletd does not answer.');
  }
}

/** The sentence of a problem of RFC 9457. */
function detailOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { detail?: string }).detail;
  } catch {
    return undefined;
  }
}
