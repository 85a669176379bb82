import { Pool, type PoolClient } from 'pg';
import { type BetKey, type PeerAnswer, type PlacedBet, type SettledBet, servePeer } from './fastify-peer.js';
import { configOf, createTables, importPlayers } from './postgres-tables.js';

/*
 * The usual solution: a transaction that locks the player's row, checks whether the bet is known, and writes both, with
 * a round trip for each of its six statements. It uses the same tables as the functions.
 */
const SCHEMA = 'row_lock';
/** Throughput is roughly the same with 8 to 64 connections. */
const CONNECTIONS = 32;

interface Player {
  readonly number: number;
  readonly currency: string;
  readonly balance: number;
}

interface Bet {
  readonly round: string;
  readonly stake: number;
  readonly placed_before: number;
  readonly payout: number | null;
  readonly settled_before: number;
}

type Work<B> = (client: PoolClient, player: Player, bet: B) => Promise<PeerAnswer>;

const pool = new Pool({ ...configOf(process.argv[2] as string, SCHEMA), max: CONNECTIONS });
await createTables(pool, SCHEMA);

await servePeer({
  place: (bet) => inTransaction(bet, place),
  settle: (bet) => inTransaction(bet, settle),
  importPlayers: (players) => importPlayers(pool, players),
});

async function place(client: PoolClient, { number, balance }: Player, bet: PlacedBet): Promise<PeerAnswer> {
  const { productId, id, roundId, stake } = bet;
  const known = await findBet(client, number, bet);
  if (known !== undefined) {
    if (known.stake !== stake || known.round !== roundId) return [20002];
    return [0, known.placed_before, known.placed_before - known.stake];
  }
  if (balance < stake) return [10002];
  await client.query('UPDATE player SET balance = $2 WHERE number = $1', [number, balance - stake]);
  const insert = 'INSERT INTO bet (player, product, id, round, stake, placed_before) VALUES ($1, $2, $3, $4, $5, $6)';
  await client.query(insert, [number, productId, id, roundId, stake, balance]);
  return [0, balance, balance - stake];
}

async function settle(client: PoolClient, { number, balance }: Player, bet: SettledBet): Promise<PeerAnswer> {
  const { productId, id, payout } = bet;
  const known = await findBet(client, number, bet);
  if (known === undefined) return [20001];
  if (known.payout !== null) {
    if (known.payout !== payout) return [20004];
    return [0, known.settled_before, known.settled_before + known.payout];
  }
  await client.query('UPDATE player SET balance = $2 WHERE number = $1', [number, balance + payout]);
  const update = 'UPDATE bet SET payout = $4, settled_before = $5 WHERE player = $1 AND product = $2 AND id = $3';
  await client.query(update, [number, productId, id, payout, balance]);
  return [0, balance, balance + payout];
}

async function inTransaction<B extends BetKey>(bet: B, work: Work<B>): Promise<PeerAnswer> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const answer = await withPlayer(client, bet, work);
    await client.query('COMMIT');
    return answer;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

async function withPlayer<B extends BetKey>(client: PoolClient, bet: B, work: Work<B>): Promise<PeerAnswer> {
  const lock = 'SELECT number, currency, balance FROM player WHERE username = $1 FOR UPDATE';
  const { rows } = await client.query<Player>(lock, [bet.username]);
  const [player] = rows;
  if (player === undefined) return [10001];
  if (player.currency !== bet.currency) return [40003];
  return work(client, player, bet);
}

async function findBet(client: PoolClient, player: number, { productId, id }: BetKey): Promise<Bet | undefined> {
  const find = 'SELECT * FROM bet WHERE player = $1 AND product = $2 AND id = $3';
  const { rows } = await client.query<Bet>(find, [player, productId, id]);
  return rows[0];
}
