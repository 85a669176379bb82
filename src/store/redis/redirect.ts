/** Where a server listens. */
export interface ServerPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * What a server of a Redis Cluster answers in place of a command that it has not carried out:
 *
 *   moved   the slot has another master now
 *   ask     the slot is on its way there, and this key has gone already: asked there, just this once
 *   again   the keys of the command are apart, or nobody serves the slot: later
 */
export type Redirect =
  | { readonly type: 'moved' | 'ask'; readonly slot: number; readonly to: ServerPlace }
  | { readonly type: 'again' };

const ELSEWHERE = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;
const LATER = /^(TRYAGAIN|CLUSTERDOWN)\b/;

/** Undefined when the error is no redirect: then nobody knows whether the command was carried out. */
export function maybeRedirect(error: unknown): Redirect | undefined {
  const message = error instanceof Error ? error.message : '';
  if (LATER.test(message)) return { type: 'again' };
  const [, word, slot, host, port] = ELSEWHERE.exec(message) ?? [];
  if (word === undefined) return undefined;
  return { type: word === 'MOVED' ? 'moved' : 'ask', slot: Number(slot), to: { host: host ?? '', port: Number(port) } };
}
