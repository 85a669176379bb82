import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, type Message, type Player } from '../../src/simulate/message.js';
import type { Answer } from '../repeats/answer.js';
import type { FreshPlayers } from '../repeats/fresh-players.js';
import type { Wire } from '../repeats/wire.js';

const START_MS = 1_790_000_000_000;
const PRODUCT = 'P1';
/** A balance that covers all stakes of a history. */
export const RICH = 100_000;

/** The body of a request in the form in which it is sent. */
export type Body = Readonly<Record<string, unknown>> & { readonly txns?: readonly Readonly<Record<string, unknown>>[] };
/** Changes a request before it is sent. */
export type Change = (body: Body) => object;

/** A connection to one operator, with the players that a property may use. */
export interface Operator {
  readonly wire: Wire;
  readonly players: FreshPlayers;
  /** The time until a closed round leaves memory; 0 if rounds do not leave memory. */
  readonly pauseMs: number;
}

/** Sends the messages of one player. */
export class PlayerClient {
  private constructor(
    private readonly operator: Operator,
    private readonly player: Player,
    private readonly change: Change,
  ) {}

  /** Creates a client for a player without history. */
  static async take(operator: Operator, balance: number, change: Change = (body) => body): Promise<PlayerClient> {
    return new PlayerClient(operator, await operator.players.takeWith(balance), change);
  }

  async send(message: Message): Promise<Answer> {
    const body = this.change(JSON.parse(bodyOf(message, this.player, PRODUCT, START_MS)) as Body);
    return (await this.operator.wire.ask(message.endpoint, JSON.stringify(body))).answer;
  }

  async sendAll(messages: readonly Message[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const message of messages) answers.push(await this.send(message));
    return answers;
  }

  async balance(): Promise<number> {
    const { username, currency } = this.player;
    const body = { id: `${username}-look`, timestampMillis: START_MS, productId: PRODUCT, currency, username };
    const { answer } = await this.operator.wire.ask('checkBalance', JSON.stringify(body));
    if (typeof answer.balance !== 'number') throw new Error(`checkBalance of ${username}: ${answer.statusCode}`);
    return answer.balance;
  }

  /** Lists the player's transactions without the player's name, so that two players' lists can be compared. */
  async list(): Promise<string> {
    const { username } = this.player;
    return (await this.operator.wire.list(username)).replaceAll(`${username}-`, '');
  }

  async pause(): Promise<void> {
    if (this.operator.pauseMs > 0) await delay(this.operator.pauseMs);
  }
}

/** The balance difference in an answer; undefined for a refusal. */
export function moveOf({ statusCode, balanceBefore, balanceAfter }: Answer): number | undefined {
  return statusCode === 0 ? rounded(Number(balanceAfter) - Number(balanceBefore)) : undefined;
}

/** Removes floating-point errors by rounding to four decimals. */
export function rounded(amount: number): number {
  return Math.round(amount * 10_000) / 10_000;
}
