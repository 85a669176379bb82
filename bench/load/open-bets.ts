import type { Answer } from './answer.js';
import type { Books } from './books.js';
import { Connection, type ConnectionListener } from './connection.js';
import { Play } from './dealer.js';
import type { Step } from './stories.js';

/** Number of connections, enough for many bets to share one durable write. */
const CONNECTIONS_MAX = 256;
/** Number of players between two progress lines. */
const STEP = 10_000;

/**
 * Places the bets that players hold throughout the measured period: one request per player, as fast as they are
 * answered. Resolves when all are placed. Rejects at the first wrong answer.
 */
export class OpenBets implements ConnectionListener {
  private readonly connections: readonly Connection[];
  private next = 0;
  private answers = 0;
  private resolve = () => {};
  private reject: (error: Error) => void = () => {};

  constructor(
    url: string,
    private readonly step: Step,
    private readonly players: number,
    private readonly books: Books,
    private readonly onPlaced: (players: number) => void,
  ) {
    this.connections = Array.from({ length: Math.min(CONNECTIONS_MAX, players) }, () => new Connection(url, this));
  }

  async place(): Promise<void> {
    await Promise.all(this.connections.map(({ isOpen }) => isOpen));
    await new Promise<void>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
      for (const connection of this.connections) this.send(connection);
    });
    for (const connection of this.connections) connection.close();
  }

  answered(connection: Connection, play: Play, answer: Answer, isEchoed: boolean): void {
    if (!isEchoed || !answer.isSuccess || !this.books.enter(play, answer.before, answer.after)) {
      this.lost(answer.text);
      return;
    }
    this.answers++;
    if (this.answers % STEP === 0 || this.answers === this.players) this.onPlaced(this.answers);
    if (this.answers === this.players) this.resolve();
    else if (this.next < this.players) this.send(connection);
  }

  lost(why: string): void {
    this.reject(new Error(`open bets cannot be placed: ${why}`));
  }

  private send(connection: Connection): void {
    const player = this.next++;
    connection.send(new Play(player, player, [this.step]), performance.now());
  }
}
