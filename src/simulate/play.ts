import { setTimeout as delay } from 'node:timers/promises';
import { CannotKnow, NotServed, Stopped } from './cannot-know.js';
import { isOfOther, messagesOf, type Step } from './case.js';
import type { Client, Lost, Reply } from './client.js';
import { Judge, type StatedResult } from './judge.js';
import { bodyOf, type Message, type Player } from './message.js';
import type { Pace } from './pace.js';
import { type Profile, pathOf } from './profile.js';
import { isFinal, isNotServed, misshapesOf, statedIn, whyNotFinal } from './reply.js';

/** The operator under test, and the retry policy. */
export interface Table {
  readonly client: Client;
  readonly profile: Profile;
  /** How long to resend a request that gets no final answer. */
  readonly retryMs: number;
  /** The start of the run, from which the simulated platform's clock continues. */
  readonly startMs: number;
  /**
   * True if a history ends with a `ConnectionLost` as soon as a connection is lost. Otherwise the request is sent again,
   * like any request without a final answer.
   */
  readonly stopsWhenLost?: boolean;
  /** Undefined if messages are sent as fast as answers arrive. */
  readonly pace?: Pace | undefined;
  /** Ends all histories. The reason is a sentence without a period. */
  readonly stop?: AbortSignal;
}

/** The reason why the run must end; undefined if the run continues. */
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
  /** Undefined if there is no final answer. */
  readonly stated?: StatedResult | undefined;
}

/** A message whose answer is there, or whose connection has ended. */
type Answered = Sent & { readonly reply: Reply };

/** An answer that an operator with this profile never gives. */
export interface Deviation {
  /** The player of the last message. */
  readonly player: Player;
  /** The other player, if the history has two. */
  readonly other?: Player | undefined;
  readonly history: readonly Sent[];
  /** Expected answers to the last message. For concurrent messages, those in the order of the history. */
  readonly expected: readonly StatedResult[];
  readonly balances: Balances;
  /** Fault of an answer that has no code, so that it neither accepts nor refuses. */
  readonly unreadable?: string | undefined;
  readonly signs: boolean;
  /** Names of the headers that the user has added to every request. */
  readonly headerNames?: readonly string[];
}

/** Balances of the player around the last message, in units. For concurrent messages, around all of them. */
export interface Balances {
  /** Balances that the earlier answers allow. */
  readonly before: readonly number[];
  /**
   * Balances that the specification allows after the message. For concurrent messages, those of the orders that explain
   * the codes of the answers.
   */
  readonly after: readonly number[];
  /** Balances after concurrent messages in the order in which they were sent, whatever the codes. */
  readonly inOrder?: readonly number[];
  /** The balance according to a checkBalance after the wrong answer. Undefined if there was none. */
  readonly now?: number | undefined;
}

/** Faults in the fields of answers, each with its first history. */
export type Misshapes = ReadonlyMap<string, Deviation>;

export interface Played {
  /** Undefined if all answers are right. */
  readonly deviation?: Deviation;
  /** The index of the step with the deviation. */
  readonly stepAt?: number;
  readonly misshapes: Misshapes;
  readonly messages: number;
}

/** A message that is cut off is sent again. */
/** Number of the question for the balance after a wrong answer, counted from the length of the history. */
const AFTERWARDS = 1000;
const CUT_REQUESTS = 2;
const FIRST_REST_MS = 50;
const REST_MAX_MS = 1000;

/**
 * Plays one history with one player, or with two if some steps are about the other one. Throws a `CannotKnow` if the
 * history cannot be played to its end.
 */
export async function play(table: Table, player: Player, steps: readonly Step[], other?: Player): Promise<Played> {
  const playing = new Play(table, player, other);
  const beside = other && playing.beside(other);
  for (const [n, step] of steps.entries()) {
    const deviation = await (isOfOther(step) ? beside : playing)?.step(step);
    if (deviation !== undefined) return { ...playing.played(deviation), stepAt: n };
  }
  return playing.played(playing.unreadable ?? beside?.unreadable);
}

/** Plays a history step by step. */
export class Play {
  private readonly judge: Judge;
  private history: Sent[] = [];
  private misshapes = new Map<string, Deviation>();
  /** The first answer that neither accepts nor refuses. */
  unreadable: Deviation | undefined;

  constructor(
    private readonly table: Table,
    private readonly player: Player,
    private readonly other?: Player,
    /** The first player of the history. */
    private readonly host = player,
  ) {
    this.judge = new Judge(table.profile, player);
  }

  /** The part of the same history that is about another player. */
  beside(player: Player): Play {
    const beside = new Play(this.table, player, this.player, this.player);
    beside.history = this.history;
    beside.misshapes = this.misshapes;
    return beside;
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
    const stated = await this.ask(message);
    if (isUnreadable(stated)) {
      // The history goes on, because later answers may show faults of money.
      this.unreadable ??= this.unreadableAnswer(message, expected);
      this.judge.outcomeUnknown(message);
      return undefined;
    }
    if (this.judge.fitsAnswer(message, stated)) {
      if (lacksBalance(stated)) this.unreadable ??= this.unreadableAnswer(message, expected);
      return undefined;
    }
    const balances = { before: this.judge.balances(), after: this.judge.balancesAfter([message]) };
    return await this.deviationWithBalance(expected, balances);
  }

  private async cut(message: Message): Promise<void> {
    const sent = this.sent(message, 'cut');
    this.history.push(sent);
    this.judge.outcomeUnknown(message);
    await this.table.client.cut(sent.path, sent.body);
  }

  private async atOnce(messages: readonly Message[]): Promise<Deviation | undefined> {
    const expected = this.judge.expectedInOrder(messages);
    const answered = await Promise.all(messages.map((message) => this.send(message, 'at-once')));
    for (const [n, sent] of answered.entries()) this.noteShape(messages[n] as Message, sent);
    for (const { reply } of answered) this.stopIfLost(expected, reply);
    const stated = answered.map((one) => one.stated);
    const unreadableAt = stated.findIndex((one) => one !== undefined && isUnreadable(one));
    if (unreadableAt >= 0) {
      return this.unreadableAnswer(messages[unreadableAt] as Message, expected, unreadableAt - messages.length);
    }
    if (!this.judge.answeredAtOnce(messages, stated)) {
      const balances = {
        before: this.judge.balances(),
        after: this.judge.balancesByCodes(messages, stated),
        inOrder: this.judge.balancesAfter(messages),
      };
      return await this.deviationWithBalance(expected, balances);
    }
    for (const [n, message] of messages.entries()) {
      if (stated[n] !== undefined) continue;
      const deviation = await this.one(message);
      if (deviation !== undefined) return deviation;
    }
    return undefined;
  }

  /** Sends the message repeatedly until it gets a final answer. */
  private async ask(message: Message): Promise<StatedResult> {
    const endMs = performance.now() + this.table.retryMs;
    let restMs = FIRST_REST_MS;
    for (let n = 0; ; n++) {
      const sent = await this.send(message, 'plain');
      this.noteShape(message, sent);
      const { reply, stated } = sent;
      if (stated !== undefined) return stated;
      this.stopIfLost(this.judge.expected(message), reply);
      if (n === 0) this.judge.outcomeUnknown(message);
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

  private stopIfLost(expected: readonly StatedResult[], { lost }: Reply): void {
    if (lost !== undefined && this.table.stopsWhenLost) throw new ConnectionLost(lost, this.deviation(expected));
  }

  private async send(message: Message, how: Sent['how']): Promise<Answered> {
    this.throwIfStopped();
    const sent = this.sent(message, how);
    const n = this.history.push(sent) - 1;
    const reply = await this.table.client.post(sent.path, sent.body, message.signature);
    const stated = isFinal(reply) ? statedIn(message, reply, this.table.profile.decimals) : undefined;
    const answered = { ...sent, reply, stated };
    this.history[n] = answered;
    // A stop closes the connections.
    if (reply.status === undefined) this.throwIfStopped();
    if (isNotServed(reply)) throw new NotServed(sent.path);
    return answered;
  }

  /** Notes the faults in the fields of a final answer. */
  private noteShape(message: Message, { reply, stated }: Answered): void {
    if (stated === undefined) return;
    for (const says of misshapesOf(message, this.player, this.table.profile.productId, reply)) {
      if (!this.misshapes.has(says)) this.misshapes.set(says, this.deviation(this.judge.expected(message)));
    }
  }

  private sent(message: Message, how: Sent['how']): Sent {
    const { profile, startMs } = this.table;
    const { endpoint, signature } = message;
    const body = bodyOf(message, this.player, profile.productId, startMs, profile, this.host);
    return { endpoint, path: pathOf(profile, endpoint), body, signature, how };
  }

  private unreadableAnswer(message: Message, expected: readonly StatedResult[], at = -1): Deviation {
    const { reply } = this.history.at(at) as Answered;
    const [unreadable] = misshapesOf(message, this.player, this.table.profile.productId, reply);
    return { ...this.deviation(expected), unreadable };
  }

  private async deviationWithBalance(expected: readonly StatedResult[], balances: Balances): Promise<Deviation> {
    const deviation = this.deviation(expected, balances);
    return { ...deviation, balances: { ...balances, now: await this.findBalance() } };
  }

  /** Asks for the balance once. The question is not part of the history. */
  private async findBalance(): Promise<number | undefined> {
    const { profile, client, pace } = this.table;
    if (!profile.endpoints.includes('checkBalance') || stopReason(this.table) !== undefined) return undefined;
    const message: Message = {
      endpoint: 'checkBalance',
      number: this.history.length + AFTERWARDS,
      txns: [],
      envelope: {},
    };
    const { path, body } = this.sent(message, 'plain');
    await pace?.wait(1);
    const stated = statedIn(message, await client.post(path, body), profile.decimals);
    return Number.isNaN(stated.after) ? undefined : stated.after;
  }

  private deviation(expected: readonly StatedResult[], balances: Balances = { before: [], after: [] }): Deviation {
    const { signs, headerNames } = this.table.client;
    const { player, other } = this;
    return { player, other, history: [...this.history], expected, balances, signs, headerNames };
  }
}

/** True if the answer neither accepts nor refuses. */
function isUnreadable({ code }: StatedResult): boolean {
  return Number.isNaN(code);
}

function lacksBalance({ code, before, after }: StatedResult): boolean {
  return code === 0 && (before === undefined || after === undefined);
}
