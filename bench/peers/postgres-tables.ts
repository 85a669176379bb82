import { type ClientBase, type ClientConfig, type Pool, types } from 'pg';
import type { Player } from './fastify-peer.js';

/*
 * The fastest tables that we know of for these two operations. Amounts are in whole units.
 *
 * - A player has a short number, so that the only index on bets does not need the name in every entry.
 * - Pages are left half empty, so that new versions of a balance and a bet fit next to the old row and touch no index
 *   (HOT).
 * - The balance after a bet is not stored, since it follows from the balance before.
 * - Bets have no foreign key to players: bets are written under the player's row lock anyway, and the check would lock
 *   the row once more for each bet.
 */
const TABLES = `
CREATE TABLE player (
  number   integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  username text    NOT NULL UNIQUE,
  currency text    NOT NULL,
  balance  bigint  NOT NULL CHECK (balance >= 0)
) WITH (fillfactor = 50);

CREATE TABLE bet (
  player         integer NOT NULL,
  product        text    NOT NULL,
  id             text    NOT NULL,
  round          text    NOT NULL,
  stake          bigint  NOT NULL,
  placed_before  bigint  NOT NULL,
  payout         bigint,
  settled_before bigint,
  PRIMARY KEY (player, product, id)
) WITH (fillfactor = 50);
`;

const IMPORT = `
INSERT INTO player (username, currency, balance)
SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
ON CONFLICT DO NOTHING`;

// Parse 8-byte integers as numbers. By default, pg returns them as strings, which cannot be added. All amounts here are
// safe integers.
types.setTypeParser(types.builtins.INT8, Number);

/** Connection settings for the tables in this schema. Peers that share a server each have their own schema. */
export function configOf(url: string, schema: string): ClientConfig {
  return { connectionString: url, options: `-c search_path=${schema}` };
}

export async function createTables(client: ClientBase | Pool, schema: string, functions = ''): Promise<void> {
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; ${TABLES} ${functions}`);
}

/** Resolves to the number of new players. */
export async function importPlayers(client: ClientBase | Pool, players: readonly Player[]): Promise<number> {
  const columns = [
    players.map(({ username }) => username),
    players.map(({ currency }) => currency),
    players.map(({ balance }) => balance),
  ];
  const { rowCount } = await client.query(IMPORT, columns);
  return rowCount ?? 0;
}
