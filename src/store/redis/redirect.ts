/** Address of a server. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * Answer of a Redis Cluster server to a command that it has not carried out:
 *
 *   moved   the slot has another master now
 *   ask     the slot is moving there, and this key has already moved: ask there, just this once
 *   again   the keys of the command are on different servers, or no server has the slot: retry later
 */
export type Redirect =
  | { readonly type: 'moved' | 'ask'; readonly slot: number; readonly to: ServerPlace }
  | { readonly type: 'again' };

const ELSEWHERE = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;
const LATER = /^(TRYAGAIN|CLUSTERDOWN)\b/;

/** Undefined when the error is not a redirect: the command may or may not have been carried out. */
export function parseRedirect(error: unknown): Redirect | undefined {
  const message = error instanceof Error ? error.message : '';
  if (LATER.test(message)) return { type: 'again' };
  const [, word, slot, host, port] = ELSEWHERE.exec(message) ?? [];
  if (word === undefined) return undefined;
  return { type: word === 'MOVED' ? 'moved' : 'ask', slot: Number(slot), to: { host: host ?? '', port: Number(port) } };
}
