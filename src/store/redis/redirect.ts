/** The address of a server. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * A Redis Cluster server's answer to a command that it did not execute:
 *
 *   moved   the slot has another master now
 *   ask the slot is moving there, and this key has already moved: send this one command there
 *   again   the keys of the command are on different servers, or no server has the slot: retry later
 */
export type Redirect =
  | { readonly type: 'moved' | 'ask'; readonly slot: number; readonly to: ServerPlace }
  | { readonly type: 'again' };

const ELSEWHERE = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;
const LATER = /^(TRYAGAIN|CLUSTERDOWN)\b/;

/**
 * Parses a redirect. Undefined if the error is not a redirect; in that case the server may have executed the command.
 */
export function parseRedirect(error: unknown): Redirect | undefined {
  const message = error instanceof Error ? error.message : '';
  if (LATER.test(message)) return { type: 'again' };
  const [, word, slot, host, port] = ELSEWHERE.exec(message) ?? [];
  if (word === undefined) return undefined;
  return { type: word === 'MOVED' ? 'moved' : 'ask', slot: Number(slot), to: { host: host ?? '', port: Number(port) } };
}
