import { setTimeout as delay } from 'node:timers/promises';
import { CannotKnow, NotServed, Stopped } from './cannot-know.js';
import { messagesOf, type Step } from './case.js';
import type { Client, Lost, Reply } from './client.js';
import { Judge, type Told } from './judge.js';
import { bodyOf, type Message, type Player } from './message.js';
import type { Pace } from './pace.js';
import { type Profile, pathOf } from './profile.js';
import { isFinal, isNotServed, misshapesOf, toldOf, whyNotFinal } from './reply.js';

/** The operator under test, and the retry policy. */
export interface Table {
  readonly client: Client;
  readonly profile: Profile;
  /** How long to resend a request that gets no final answer. */
  readonly patienceMs: number;
  /** Start of the run, from which the simulated platform's clock continues. */
  readonly startMs: number;
  /**
   * True if a history ends with a `ConnectionLost` as soon as a connection is lost. Otherwise the request is sent again,
   * like any request without a final answer.
   */
  readonly stopsWhenLost?: boolean;
  /** Undefined if messages are sent as fast as answers arrive. */
  readonly pace?: Pace | undefined;
  /** Ends all histories. The reason is a sentence without a full stop. */
  readonly stop?: AbortSignal;
}

/** Why the run must end; undefined if it goes on. */
export function stopReason({ stop }: Table): string | undefined {
  return stop?.aborted ? String(stop.reason) : undefined;
}

/** A history ended because its connection was lost. */
export class ConnectionLost extends CannotKnow {
  constructor(
    readonly how: Lost,
    readonly deviation: Deviation,
  ) {
    super(`the connection was lost: ${how}`);
  }
}

export interface Sent {
  readonly endpoint: Message['endpoint'];
  readonly path: string;
  readonly body: string;
  readonly signature: Message['signature'];
  /** `cut`: sent without waiting for the answer. `at-once`: sent together with the adjacent `at-once` messages. */
  readonly how: 'plain' | 'at-once' | 'cut';
  readonly reply?: Reply;
}

/** An answer that an operator with this profile never gives. */
export interface Deviation {
  readonly player: Player;
  readonly history: readonly Sent[];
  /** Expected answers to the last message. For concurrent messages, those of the first possible order. */
  readonly expected: readonly Told[];
  readonly signs: boolean;
  /** Names of the headers that the user has added to every request. */
  readonly headerNames?: readonly string[];
}

/** Faults in the fields of answers, each with its first history. */
export type Misshapes = ReadonlyMap<string, Deviation>;

export interface Played {
  /** Undefined if all answers are right. */
  readonly deviation?: Deviation;
  readonly misshapes: Misshapes;
  readonly messages: number;
}

/** A message that is cut off is sent again. */
const CUT_REQUESTS = 2;
const FIRST_REST_MS = 50;
const REST_MAX_MS = 1000;

/** Plays one history with one player. Throws a `CannotKnow` if the history cannot be played to its end. */
export async function play(table: Table, player: Player, steps: readonly Step[]): Promise<Played> {
  const playing = new Play(table, player);
  for (const step of steps) {
    const deviation = await playing.step(step);
    if (deviation !== undefined) return playing.played(deviation);
  }
  return playing.played(undefined);
}

/** Plays a history step by step. */
export class Play {
  private readonly judge: Judge;
  private readonly history: Sent[] = [];
  private readonly misshapes = new Map<string, Deviation>();

  constructor(
    private readonly table: Table,
    private readonly player: Player,
  ) {
    this.judge = new Judge(table.profile, player);
  }

  /** Plays one step. Resolves to a deviation if the answer is wrong, and to undefined if it is right. */
  async step(step: Step): Promise<Deviation | undefined> {
    const [what] = step;
    const messages = messagesOf(step);
    await this.table.pace?.wait('how' in what && what.how === 'cut' ? CUT_REQUESTS : messages.length);
    if ('how' in what && what.how === 'at-once') return await this.atOnce(messages);
    for (const message of messages) {
      if ('how' in what) await this.cut(message);
      const deviation = await this.one(message);
      if (deviation !== undefined) return deviation;
    }
    return undefined;
  }

  played(deviation: Deviation | undefined): Played {
    return {
      messages: this.history.length,
      misshapes: this.misshapes,
      ...(deviation && { deviation }),
    };
  }

  private async one(message: Message): Promise<Deviation | undefined> {
    const expected = this.judge.expected(message);
    const told = await this.ask(message);
    return this.judge.told(message, told) ? undefined : this.deviation(expected);
  }

  private async cut(message: Message): Promise<void> {
    const sent = this.sent(message, 'cut');
    this.history.push(sent);
    this.judge.maybe(message);
    await this.table.client.cut(sent.path, sent.body);
  }

  private async atOnce(messages: readonly Message[]): Promise<Deviation | undefined> {
    const expected = messages.flatMap((message) => this.judge.expected(message));
    const replies = await Promise.all(messages.map((message) => this.send(message, 'at-once')));
    const told = replies.map((reply, n) => (isFinal(reply) ? this.read(messages[n] as Message, reply) : undefined));
    for (const reply of replies) this.stopIfLost(expected, reply);
    if (!this.judge.answeredAtOnce(messages, told)) return this.deviation(expected);
    for (const [n, message] of messages.entries()) {
      if (told[n] !== undefined) continue;
      const deviation = await this.one(message);
      if (deviation !== undefined) return deviation;
    }
    return undefined;
  }

  /** Sends the message repeatedly until it gets a final answer. */
  private async ask(message: Message): Promise<Told> {
    const endMs = performance.now() + this.table.patienceMs;
    let restMs = FIRST_REST_MS;
    for (let n = 0; ; n++) {
      const reply = await this.send(message, 'plain');
      if (isFinal(reply)) return this.read(message, reply);
      this.stopIfLost(this.judge.expected(message), reply);
      if (n === 0) this.judge.maybe(message);
      if (performance.now() + restMs > endMs) {
        throw new CannotKnow(`${message.endpoint} got no final answer, ${n + 1} times: ${whyNotFinal(reply)}`);
      }
      await delay(restMs);
      restMs = Math.min(restMs * 2, REST_MAX_MS);
    }
  }

  private throwIfStopped(): void {
    const reason = stopReason(this.table);
    if (reason !== undefined) throw new Stopped(reason);
  }

  private stopIfLost(expected: readonly Told[], { lost }: Reply): void {
    if (lost !== undefined && this.table.stopsWhenLost) throw new ConnectionLost(lost, this.deviation(expected));
  }

  private async send(message: Message, how: Sent['how']): Promise<Reply> {
    this.throwIfStopped();
    const sent = this.sent(message, how);
    const n = this.history.push(sent) - 1;
    const reply = await this.table.client.post(sent.path, sent.body, message.signature);
    this.history[n] = { ...sent, reply };
    // A stop closes the connections.
    if (reply.status === undefined) this.throwIfStopped();
    if (isNotServed(reply)) throw new NotServed(sent.path);
    return reply;
  }

  private read(message: Message, reply: Reply): Told {
    for (const says of misshapesOf(message, this.player, this.table.profile.productId, reply)) {
      if (!this.misshapes.has(says)) this.misshapes.set(says, this.deviation(this.judge.expected(message)));
    }
    return toldOf(message, reply, this.table.profile.decimals);
  }

  private sent(message: Message, how: Sent['how']): Sent {
    const { profile, startMs } = this.table;
    const { endpoint, signature } = message;
    const body = bodyOf(message, this.player, profile.productId, startMs, profile);
    return { endpoint, path: pathOf(profile, endpoint), body, signature, how };
  }

  private deviation(expected: readonly Told[]): Deviation {
    const { signs, headerNames } = this.table.client;
    return { player: this.player, history: [...this.history], expected, signs, headerNames };
  }
}
