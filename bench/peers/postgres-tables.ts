import { type ClientBase, type ClientConfig, type Pool, types } from 'pg';
import type { Player } from './fastify-peer.js';

/*
 * The best tables for these two operations that we know of; amounts are whole units.
 *
 * - A player has a short number, so that the one index of bets needs no name in every entry.
 * - Pages are left half empty, so that the changes of a balance and of a bet find room beside the old row and touch no
 *   index (HOT).
 * - A balance after is not stored, as it follows from the one before.
 * - Bets do not reference players: they are written under the lock of the player's row only, and the check would lock it
 *   once more each time.
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

// As strings, which is what pg makes of 8 bytes, units could not be added; all of ours are safe integers.
types.setTypeParser(types.builtins.INT8, Number);

/** A connection to the tables in this schema: peers that share a server have one each. */
export function configOf(url: string, schema: string): ClientConfig {
  return { connectionString: url, options: `-c search_path=${schema}` };
}

export async function createTables(client: ClientBase | Pool, schema: string, functions = ''): Promise<void> {
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}; ${TABLES} ${functions}`);
}

/** Resolves to how many of them are new. */
export async function importPlayers(client: ClientBase | Pool, players: readonly Player[]): Promise<number> {
  const columns = [
    players.map(({ username }) => username),
    players.map(({ currency }) => currency),
    players.map(({ balance }) => balance),
  ];
  const { rowCount } = await client.query(IMPORT, columns);
  return rowCount ?? 0;
}
