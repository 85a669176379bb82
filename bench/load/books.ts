import { OperatorApi } from '../../src/tools/verify/operator-api.js';
import { bearer } from '../support/servers.js';
import { UNITS, unitsAt } from './answer.js';
import type { Play } from './dealer.js';
import { usernameOf } from './stories.js';

/**
 * Expected balance of every player, in units. A request with an unknown outcome widens the range of possible balances.
 * The balance of every other player must match exactly.
 */
export class Books {
  private readonly least: Float64Array;
  private readonly most: Float64Array;

  constructor(
    players: number,
    openingBalance: number,
    /**
     * True if each player has at most one request at a time. In that case, the balance before each answer must be one
     * of the balances that are possible according to these books.
     */
    private readonly isInTurn: boolean,
  ) {
    this.least = new Float64Array(players).fill(openingBalance * UNITS);
    this.most = this.least.slice();
  }

  /** Number of players with more than one possible balance. */
  get uncertain(): number {
    return this.least.filter((units, player) => units !== this.most[player]).length;
  }

  /** Records a success. Returns false if its balances are wrong. */
  enter({ player, step }: Play, before: number, after: number): boolean {
    const isKnown = before >= (this.least[player] as number) && before <= (this.most[player] as number);
    const isRight = after - before === step.shows && (!this.isInTurn || isKnown);
    this.move(player, step.moves, step.moves);
    return isRight;
  }

  /** Records a request whose outcome is unknown. */
  enterDoubtful({ player, step }: Play): void {
    this.move(player, Math.min(step.moves, 0), Math.max(step.moves, 0));
  }

  /**
   * Fetches all balances, or only those of these players, from the operator API. Returns a sentence about each wrong
   * balance.
   */
  async compare(adminUrl: string, token: string | null, seed: string, areFew: boolean): Promise<string[]> {
    const api = new OperatorApi(adminUrl, token);
    const usernames = [...this.least.keys()].map((player) => usernameOf(seed, player));
    const balances = areFew ? await balancesOf(usernames, api) : await allBalances(api, token);
    const wrong: string[] = [];
    for (const [player, least] of this.least.entries()) {
      const username = usernameOf(seed, player);
      const units = balances.get(username) ?? Number.NaN;
      const most = this.most[player] as number;
      if (!(units >= least && units <= most)) wrong.push(`${username} has ${units}, and not ${least} to ${most} units`);
    }
    return wrong;
  }

  private move(player: number, least: number, most: number): void {
    this.least[player] = (this.least[player] as number) + least;
    this.most[player] = (this.most[player] as number) + most;
  }
}

async function balancesOf(usernames: readonly string[], api: OperatorApi): Promise<Map<string, number>> {
  const balances = new Map<string, number>();
  for (const username of usernames) {
    const player = await api.player(username);
    if (player !== undefined) balances.set(username, unitsAt(player.balance, 0));
  }
  return balances;
}

async function allBalances(api: OperatorApi, token: string | null): Promise<Map<string, number>> {
  const response = await fetch(`${api.url}/readyz`, { headers: bearer(token ?? undefined) });
  const { shards } = (await response.json()) as { shards: { shard: number }[] };
  const balances = new Map<string, number>();
  for (const { shard } of shards) {
    for (const { username, balance } of await api.players(shard)) balances.set(username, unitsAt(balance, 0));
  }
  return balances;
}
