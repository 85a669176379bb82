/** Result of one search. Like the console, the search requests page after page until a page contains players. */
export interface Searched {
  readonly ms: number;
  readonly requests: number;
  readonly players: number;
  /** Size of the last answer. */
  readonly bytes: number;
  readonly next: string | null;
}

interface Page {
  readonly players: readonly { readonly username: string }[];
  readonly next: string | null;
}

const LIMIT = '50';

export async function search(adminUrl: string, prefix: string, after?: string): Promise<Searched> {
  const startedMs = performance.now();
  let cursor = after ?? null;
  for (let requests = 1; ; requests++) {
    const query = new URLSearchParams({ prefix, limit: LIMIT, ...(cursor !== null && { after: cursor }) });
    const response = await fetch(`${adminUrl}/v1/players?${query}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`the search answers ${response.status}: ${text}`);
    const { players, next } = JSON.parse(text) as Page;
    if (players.length > 0 || next === null) {
      return { ms: performance.now() - startedMs, requests, players: players.length, bytes: text.length, next };
    }
    cursor = next;
  }
}
