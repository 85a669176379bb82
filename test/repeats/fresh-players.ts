import { randomBytes } from 'node:crypto';
import type { Player } from '../../src/tools/simulate/message.js';
import type { RealWire } from './wire.js';

const BATCH = 256;
/** Mostly enough for every stake; some players meet a balance that does not cover one. */
const BALANCES = [1000, 1000, 1000, 60];
const CURRENCY = 'THB';

/** Players that nobody has played with, created in batches. */
export class FreshPlayers {
  private readonly prefix = `p-${randomBytes(3).toString('hex')}`;
  private made = 0;
  private batches: Promise<void> = Promise.resolve();
  private readonly created: Player[][] = BALANCES.map(() => []);

  constructor(private readonly wire: RealWire) {}

  /** A player whose opening balance follows from the seed. */
  async take(seed: number): Promise<Player> {
    const kind = seed % BALANCES.length;
    for (;;) {
      const player = this.created[kind]?.pop();
      if (player !== undefined) return player;
      this.batches = this.batches.then(() => this.fill(kind));
      await this.batches;
    }
  }

  private async fill(kind: number): Promise<void> {
    if (this.created[kind]?.length !== 0) return;
    const balance = BALANCES[kind] as number;
    const players = Array.from({ length: BATCH }, () => {
      return { username: `${this.prefix}-${this.made++}`, currency: CURRENCY, balance };
    });
    const lines = players.map((player) => JSON.stringify({ id: 'open', ...player }));
    await this.wire.operate('/v1/players:import', lines.join('\n'));
    this.created[kind]?.push(...players);
  }
}
