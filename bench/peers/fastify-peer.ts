import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';

/*
 * Common part of the Fastify peers: the requests, the answers and the import. The peers differ in how they store
 * wallets. Each is a single process, like walletd, with two of the six endpoints and one bet per request. Schemas are
 * compiled for both parsing and serializing.
 */
export interface PeerWallets {
  place(bet: PlacedBet): Promise<PeerAnswer>;
  settle(bet: SettledBet): Promise<PeerAnswer>;
  /** Resolves to the number of new players. */
  importPlayers(players: readonly Player[]): Promise<number>;
}

/** A bet and its stake, in whole units of the currency. */
export interface PlacedBet extends BetKey {
  readonly roundId: string;
  readonly stake: number;
}

export interface SettledBet extends BetKey {
  readonly payout: number;
}

export interface BetKey {
  readonly username: string;
  readonly productId: string;
  readonly id: string;
  readonly currency: string;
}

export interface Player {
  readonly username: string;
  readonly currency: string;
  readonly balance: number;
}

/** Answer with the balances of the first answer; without balances if the callback failed. */
export type PeerAnswer = readonly [statusCode: number, before?: number | null, after?: number | null];

interface Callback {
  readonly id: string;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
  readonly txns: readonly [{ id: string; roundId: string; betAmount: number; payoutAmount: number }];
}

const UNITS = 10_000;
const IMPORT_BYTES_MAX = 256 * 1024 * 1024;

const text = { type: 'string', minLength: 1, maxLength: 256 } as const;
const number = { type: 'number', minimum: 0 } as const;
const integer = { type: 'integer' } as const;

/** Serves these wallets on a free port, and prints the address as the first line of output. */
export async function servePeer(wallets: PeerWallets): Promise<void> {
  const app = fastify();
  app.post<{ Body: Callback }>('/placeBets', { schema: schemaOf({ betAmount: number }) }, async ({ body }) => {
    const [{ id, roundId, betAmount }] = body.txns;
    return answer(body, await wallets.place({ ...keyOf(body, id), roundId, stake: units(betAmount) }));
  });

  const settled = schemaOf({ betAmount: number, payoutAmount: number });
  app.post<{ Body: Callback }>('/settleBets', { schema: settled }, async ({ body }) => {
    const [{ id, payoutAmount }] = body.txns;
    return answer(body, await wallets.settle({ ...keyOf(body, id), payout: units(payoutAmount) }));
  });

  // Like walletd's import: one JSON object per line. The answer contains only totals.
  app.addContentTypeParser('application/x-ndjson', { parseAs: 'string' }, async (_request: unknown, body: string) =>
    body.split('\n').map((line) => JSON.parse(line)),
  );
  app.post<{ Body: Player[] }>('/v1/players::import', { bodyLimit: IMPORT_BYTES_MAX }, async ({ body }) => {
    const players = body.map(({ username, currency, balance }) => ({ username, currency, balance: units(balance) }));
    return { created: await wallets.importPlayers(players) };
  });

  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  console.log(JSON.stringify({ url, adminUrl: url }));
}

function schemaOf(txn: Readonly<Record<string, object>>) {
  const required = (properties: Readonly<Record<string, object>>) => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
  });
  const txns = { type: 'array', minItems: 1, maxItems: 1, items: required({ id: text, roundId: text, ...txn }) };
  const envelope = { id: text, timestampMillis: number, productId: text, currency: text, username: text, txns };
  const echoed = { id: text, statusCode: integer, timestampMillis: integer, productId: text };
  const balances = { currency: text, balanceBefore: number, balanceAfter: number, username: text };
  const answer = { type: 'object', properties: { ...echoed, ...balances } };
  return { body: required(envelope), response: { 200: answer } };
}

function keyOf({ username, productId, currency }: Callback, id: string): BetKey {
  return { username, productId, id, currency };
}

function answer({ id, productId, currency, username }: Callback, [statusCode, before, after]: PeerAnswer): object {
  const echoed = { id, statusCode, timestampMillis: Date.now(), productId };
  if (typeof before !== 'number' || typeof after !== 'number') return echoed;
  return { ...echoed, currency, balanceBefore: before / UNITS, balanceAfter: after / UNITS, username };
}

function units(amount: number): number {
  return Math.round(amount * UNITS);
}
