import { randomBytes } from 'node:crypto';
import type { Player } from '../../src/simulate/message.js';
import type { RealWire } from './wire.js';

const BATCH = 256;
/** Opening balances. Most cover every stake; the lowest one does not, so some stakes are refused. */
const BALANCES = [1000, 1000, 1000, 60];
const CURRENCY = 'THB';

/** Creates players without history, in batches. */
export class FreshPlayers {
  private readonly prefix = `p-${randomBytes(3).toString('hex')}`;
  private made = 0;
  private batches: Promise<void> = Promise.resolve();
  private readonly created = new Map<number, Player[]>();

  constructor(private readonly wire: RealWire) {}

  /** A player whose opening balance is determined by the seed. */
  async take(seed: number): Promise<Player> {
    return await this.takeWith(BALANCES[seed % BALANCES.length] as number);
  }

  async takeWith(balance: number): Promise<Player> {
    for (;;) {
      const player = this.created.get(balance)?.pop();
      if (player !== undefined) return player;
      this.batches = this.batches.then(() => this.fill(balance));
      await this.batches;
    }
  }

  private async fill(balance: number): Promise<void> {
    if ((this.created.get(balance)?.length ?? 0) > 0) return;
    const players = Array.from({ length: BATCH }, () => {
      return { username: `${this.prefix}-${this.made++}`, currency: CURRENCY, balance };
    });
    const lines = players.map((player) => JSON.stringify({ id: 'open', ...player }));
    await this.wire.operate('/v1/players:import', lines.join('\n'));
    this.created.set(balance, players);
  }
}
