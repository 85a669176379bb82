import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf, type Message, type Player } from '../../src/simulate/message.js';
import { type Answer, isAccepted } from './answer.js';
import type { Counts } from './counts.js';
import type { Past } from './history-drawer.js';
import { judgeMove, judgeRepeat } from './judge.js';
import type { Delivery, Step } from './step.js';
import type { Violation } from './violation.js';
import type { Asked, Wire } from './wire.js';

const START_MS = 1_790_000_000_000;
const PRODUCT = 'P1';

/** One history as played by one player. Records first answers and the balance, and checks every step. */
export class PlayedHistory implements Past {
  readonly acknowledged: Message[] = [];
  readonly refused: Message[] = [];
  /** Answers, one list per step, for printing the history. */
  readonly answers: Answer[][] = [];
  /**
   * True once a connection was cut and the second copy of the message was refused. The first copy may still arrive and
   * be accepted, so from then on the balance proves nothing.
   */
  isUncertain = false;
  private balance: number;
  private readonly firstAnswers = new Map<Message, Answer>();
  private readonly bodies = new Map<Message, string>();
  private looks = 0;

  constructor(
    private readonly wire: Wire,
    private readonly player: Player,
    private readonly counts: Counts | undefined,
  ) {
    this.balance = player.balance;
  }

  /** Plays one step. Resolves to the first promise that the step breaks. */
  async take(step: Step): Promise<Violation | undefined> {
    switch (step.type) {
      case 'pause':
        this.answers.push([]);
        await delay(step.ms);
        return undefined;
      case 'send':
        return await this.send(step.message, step.delivery);
      case 'repeat':
        return await this.repeat(step.messages, step.isListed);
    }
  }

  private async send(message: Message, delivery: Delivery): Promise<Violation | undefined> {
    if (this.counts !== undefined) this.counts.messages++;
    const body = this.bodyOf(message);
    if (delivery === 'cut') await this.wire.cut(message.endpoint, body);
    const copies = delivery === 'at once' ? 2 : 1;
    const asked = await Promise.all(Array.from({ length: copies }, () => this.wire.ask(message.endpoint, body)));
    this.answers.push(asked.map(({ answer }) => answer));
    return await this.judgeSent(message, delivery, asked);
  }

  private async judgeSent(
    message: Message,
    delivery: Delivery,
    asked: readonly Asked[],
  ): Promise<Violation | undefined> {
    const { answer } = asked.find((one) => isAccepted(one.answer)) ?? (asked[0] as Asked);
    if (!isAccepted(answer)) {
      if (!this.refused.includes(message)) this.refused.push(message);
      if (delivery === 'cut') this.isUncertain = true;
      // If a refused message moved money, the next repeats reveal it, unless the message was sent several times.
      const isPlain = delivery === 'once' && asked.every(({ wasUnknown }) => !wasUnknown);
      if (isPlain || this.isUncertain) return undefined;
    }
    const before = this.balance;
    this.balance = await this.look();
    const violation = judgeMove(message, answer, before, this.balance);
    if (violation !== undefined || !isAccepted(answer)) return violation;
    this.acknowledge(message, answer);
    for (const one of asked) {
      const copy = judgeRepeat(message, answer, one.answer);
      if (copy !== undefined) return copy;
    }
    return undefined;
  }

  private acknowledge(message: Message, answer: Answer): void {
    this.firstAnswers.set(message, answer);
    this.acknowledged.push(message);
    const refused = this.refused.indexOf(message);
    if (refused === -1) return;
    this.refused.splice(refused, 1);
    if (this.counts !== undefined) this.counts.acceptedLater++;
  }

  private async repeat(messages: readonly Message[], isListed: boolean): Promise<Violation | undefined> {
    const { player, wire } = this;
    // Repeat only acknowledged messages: a shrunk history may lack the step that made a message acceptable.
    const known = messages.filter((message) => this.firstAnswers.has(message));
    const listed = isListed && known.length > 0 ? await wire.list(player.username) : undefined;
    const answers: Answer[] = [];
    this.answers.push(answers);
    for (const message of known) {
      const { answer } = await wire.ask(message.endpoint, this.bodyOf(message));
      answers.push(answer);
      this.counts?.countRepeat(answer.statusCode);
      const violation = judgeRepeat(message, this.firstAnswers.get(message) as Answer, answer);
      if (violation !== undefined) return violation;
    }
    const [last] = known.slice(-1);
    if (last === undefined) return undefined;
    return (await this.judgeBalance(last)) ?? (await this.judgeList(last, listed));
  }

  private async judgeBalance(message: Message): Promise<Violation | undefined> {
    const balance = await this.look();
    if (balance === this.balance) return undefined;
    const detail = `the balance was ${this.balance}, and is ${balance}`;
    return { promised: 'a repeat leaves the balance alone', message, detail };
  }

  private async judgeList(message: Message, before: string | undefined): Promise<Violation | undefined> {
    if (before === undefined) return undefined;
    if (this.counts !== undefined) this.counts.listings++;
    const after = await this.wire.list(this.player.username);
    if (after === before) return undefined;
    const detail = `the transactions were\n${before}\nand are\n${after}`;
    return { promised: 'a repeat leaves the transactions alone', message, detail };
  }

  private async look(): Promise<number> {
    const { username, currency } = this.player;
    const id = `${username}-look-${this.looks++}`;
    const body = JSON.stringify({ id, timestampMillis: START_MS, productId: PRODUCT, currency, username });
    const { answer } = await this.wire.ask('checkBalance', body);
    if (typeof answer.balance !== 'number') throw new Error(`checkBalance of ${username}: ${answer.statusCode}`);
    return answer.balance;
  }

  private bodyOf(message: Message): string {
    let body = this.bodies.get(message);
    if (body === undefined) {
      body = bodyOf(message, this.player, PRODUCT, START_MS);
      this.bodies.set(message, body);
    }
    return body;
  }
}
