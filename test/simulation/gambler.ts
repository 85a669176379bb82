import type { CallbackAnswer } from '../../src/callback/callback-codec.js';
import { FAILURES } from '../../src/callback/failures.js';
import { CannotKnow } from '../../src/simulate/cannot-know.js';
import { Judge, type StatedResult } from '../../src/simulate/judge.js';
import { bodyOf, type Message, type Player } from '../../src/simulate/message.js';
import { Platform } from '../../src/simulate/platform.js';
import { DEFAULT_PROFILE, type Profile } from '../../src/simulate/profile.js';
import type { Answer } from '../../src/wallet/decision.js';
import { drawMessage } from './draw-message.js';
import { Forgetting } from './forgetting.js';
import type { PlanSettings } from './plan.js';
import type { Random } from './random.js';
import type { World } from './world.js';

/** Number of decimals of the wallet's units. The checker compares amounts in these units. */
const DECIMALS = 4;
const UNITS = 10_000;
const OPENING = 100;
const FIRST_REST_MS = 20;
const REST_MAX_MS = 400;
const NOT_NOW = 50001;
const STORY_MAX = 60;
/** Share of players who return and send all their messages again. */
const RETURNS = 0.2;
const ABSENCE_MAX_MS = 15_000;

/** A message, which is sent repeatedly until it is answered. */
interface Exchange {
  readonly message: Message;
  /** The first answer of an executed message. Every later answer, even an overdue one, must be equal. */
  accepted?: StatedResult;
}

/** An event in the gambler's history: a message sent, or its answer. */
interface Note {
  readonly atMs: number;
  readonly message: Message;
  readonly answer: CallbackAnswer | undefined;
}

/** The environment of a gambler. */
export interface Table {
  readonly world: World;
  /** Settings that differ from their defaults. */
  readonly settings: PlanSettings;
  /** Maximum pause between two messages. */
  readonly thinkMs: number;
  /** Number of answered messages after which the gambler leaves. */
  readonly messages: number;
  /** Called after each answered message. */
  readonly onAnswered: (at: Gambler, message: Message, reported: StatedResult) => void;
  /** Called when the gambler leaves temporarily. */
  readonly onPauses: (gambler: Gambler) => void;
  readonly onLeft: (gambler: Gambler) => void;
  readonly onWrong: (error: Error) => void;
}

/**
 * A new player and their platform. Messages are sent one after another, each until it is answered. Some are sent at the
 * same time, twice, or again much later. The checker fails if no loss and no order of the messages can explain an
 * answer.
 */
export class Gambler {
  readonly player: Player;
  /** Final balance; undefined if lost answers leave it uncertain. */
  balance: number | undefined = undefined;
  private readonly judge: Judge;
  private readonly forgetting: Forgetting;
  private readonly platform = new Platform();
  private readonly sent: Message[] = [];
  /** Latest messages and answers, to be printed after a failure. */
  private readonly story: Note[] = [];
  private answered = 0;
  private isLeaving = false;
  hasReturned = false;
  /** Function that ends the gambler's absence; undefined while the gambler is present. */
  private wake: (() => void) | undefined = undefined;
  /** True if the balance can no longer be determined. */
  private isGone = false;

  constructor(
    username: string,
    private readonly table: Table,
    private readonly random: Random,
  ) {
    this.player = { username, currency: 'THB', balance: OPENING };
    this.forgetting = new Forgetting(() => table.world.forgettingTimes);
    const profile = { ...DEFAULT_PROFILE, ...table.settings, decimals: DECIMALS } as Profile;
    this.judge = new Judge(profile, this.player, (world, messages) => this.forgetting.worldsOf(world, messages));
  }

  /** Imports the opening balance and starts playing. */
  begin(): void {
    const { world } = this.table;
    const { username, currency } = this.player;
    const command = { type: 'import-player', id: 'fund', username, currency, balance: OPENING * UNITS } as const;
    const sinceMs = world.time.wallMs();
    // The player remains even after the import operation has been forgotten. A repeat is then a second import and is
    // refused.
    const isRefused = (answer: Answer) =>
      answer.type === 'failed' && answer.failure === 'duplicate-transaction' && this.forgetting.isExpired(sinceMs);
    this.until(
      (done) =>
        world.command(command, (answer) =>
          done(answer !== undefined && (answer.type === 'accepted' || isRefused(answer))),
        ),
      () => this.goOn(),
    );
  }

  /** Leaves as soon as all pending messages have been answered. */
  leave(): void {
    this.isLeaving = true;
    this.wake?.();
  }

  private goOn(): void {
    if (this.isGone) return;
    const { random, table } = this;
    table.world.time.after(random.between(0, table.thinkMs), () => this.next());
  }

  private next(): void {
    const { random, table, sent } = this;
    if (this.isLeaving || this.answered >= table.messages) {
      this.end();
      return;
    }
    const message = sent.length > 0 && random.chance(0.12) ? random.pick(sent) : drawMessage(this.platform, random);
    sent.push(message);
    if (random.chance(0.05)) this.atOnce([message, random.chance(0.5) ? message : this.draw()]);
    else this.exchange({ message }, () => this.goOn());
  }

  /** Ends a visit: permanently, or until all its rounds have been archived for a long time. */
  private end(): void {
    const { random, table, isLeaving } = this;
    if (!isLeaving && !this.hasReturned && random.chance(RETURNS)) {
      this.hasReturned = true;
      table.onPauses(this);
      const comeBack = () => {
        stopResting();
        this.wake = undefined;
        this.sendAgain([...new Set(this.sent)]);
      };
      const stopResting = table.world.time.after(random.between(0, ABSENCE_MAX_MS), comeBack);
      this.wake = comeBack;
      return;
    }
    this.exchange({ message: this.platform.balance() }, ({ after }) => {
      this.balance = after;
      table.onLeft(this);
    });
  }

  /** Sends every message of the visit again, in order. */
  private sendAgain([first, ...rest]: readonly Message[]): void {
    if (first === undefined || this.isLeaving) this.end();
    else this.exchange({ message: first }, () => this.sendAgain(rest));
  }

  private draw(): Message {
    const message = drawMessage(this.platform, this.random);
    this.sent.push(message);
    return message;
  }

  /** Sends all messages before the first answer, then retries the unanswered ones one by one. */
  private atOnce(messages: readonly Message[]): void {
    const exchanges = messages.map((message): Exchange => ({ message }));
    const reported: (StatedResult | undefined)[] = messages.map(() => undefined);
    let open = messages.length;
    for (const [n, one] of exchanges.entries()) {
      this.attempt(one, (answer) => {
        reported[n] = answer;
        if (--open > 0) return;
        this.judged(messages, reported, () => this.judge.answeredAtOnce(messages, reported));
        for (const [i, message] of messages.entries()) {
          if (reported[i] !== undefined) this.count(message, reported[i] as StatedResult);
        }
        this.inTurn(
          exchanges.filter((_, i) => reported[i] === undefined),
          () => this.goOn(),
        );
      });
    }
  }

  private inTurn([first, ...rest]: readonly Exchange[], then: () => void): void {
    if (first === undefined) then();
    else this.exchange(first, () => this.inTurn(rest, then));
  }

  /** Sends the message repeatedly until it is answered. */
  private exchange(exchange: Exchange, then: (reported: StatedResult) => void): void {
    const { message } = exchange;
    this.until(
      (done) =>
        this.attempt(exchange, (reported) => {
          this.judged([message], [reported], () => {
            if (reported === undefined) this.judge.outcomeUnknown(message);
            return reported === undefined || this.judge.fitsAnswer(message, reported);
          });
          if (reported !== undefined) {
            this.count(message, reported);
            then(reported);
          }
          done(reported !== undefined);
        }),
      () => {},
    );
  }

  private count(message: Message, reported: StatedResult): void {
    this.answered++;
    this.table.onAnswered(this, message, reported);
  }

  /** Sends the message once. Calls back with undefined if the outcome is unknown. */
  private attempt(exchange: Exchange, then: (reported: StatedResult | undefined) => void): void {
    const { message } = exchange;
    const { world } = this.table;
    const text = bodyOf(message, this.player, 'P', 0);
    let isOver = false;
    this.note(message);
    this.forgetting.sent(message);
    world.send(message.endpoint, text, (answer) => {
      const reported = answer && reportedOf(answer);
      if (answer !== undefined) this.note(message, answer);
      if (reported?.code === 0) this.same(exchange, reported);
      if (isOver) return;
      isOver = true;
      then(reported);
    });
  }

  /**
   * Checks a later answer to the same message, which must be equal to the first one even if it is late. A repeated
   * balance request is a new request.
   */
  private same(exchange: Exchange, reported: StatedResult): void {
    if (exchange.message.endpoint === 'checkBalance' || this.forgetting.isOld(exchange.message)) return;
    const first = exchange.accepted;
    exchange.accepted ??= reported;
    if (first === undefined || (first.before === reported.before && first.after === reported.after)) return;
    this.wrong(`${describe(exchange.message)} was answered ${JSON.stringify(reported)} after ${JSON.stringify(first)}`);
  }

  /** Repeats the attempt with increasing delays until it succeeds. */
  private until(attempt: (done: (isDone: boolean) => void) => void, then: () => void, restMs = FIRST_REST_MS): void {
    let isOver = false;
    attempt((isDone) => {
      if (this.isGone || isOver) return;
      isOver = true;
      if (isDone) then();
      else this.table.world.time.after(restMs, () => this.until(attempt, then, Math.min(restMs * 2, REST_MAX_MS)));
    });
  }

  private judged(
    messages: readonly Message[],
    reported: readonly (StatedResult | undefined)[],
    judge: () => boolean,
  ): void {
    try {
      if (judge()) return;
    } catch (error) {
      if (!(error instanceof CannotKnow)) throw error;
      this.isGone = true;
      this.table.onLeft(this);
      return;
    }
    const what = messages.map(describe).join(' and at once ');
    const expected =
      messages.length > 1 ? '' : `; expected ${JSON.stringify(this.judge.expected(messages[0] as Message))}`;
    this.wrong(`${what} was answered ${JSON.stringify(reported)}${expected}`);
  }

  private note(message: Message, answer?: CallbackAnswer): void {
    this.story.push({ atMs: this.table.world.time.nowMs, message, answer });
    if (this.story.length > STORY_MAX) this.story.shift();
  }

  private wrong(why: string): void {
    const story = this.story.map(({ atMs, message, answer }) => {
      const what = answer === undefined ? `-> ${describe(message)}` : `<- q${message.number} ${JSON.stringify(answer)}`;
      return `  ${(atMs / 1000).toFixed(4)} ${what}`;
    });
    this.table.onWrong(new Error(`${this.player.username}: ${why}\n${story.join('\n')}`));
  }
}

/** Final answer; undefined if the request was refused temporarily or its outcome is unknown. */
function reportedOf(answer: CallbackAnswer): StatedResult | undefined {
  if (answer.type === 'accepted') return { code: 0, before: answer.before, after: answer.after };
  const code = FAILURES[answer.failure].statusCode;
  return code === NOT_NOW ? undefined : { code };
}

function describe({ endpoint, number, txns }: Message): string {
  return `${endpoint} q${number} ${JSON.stringify(txns)}`;
}
