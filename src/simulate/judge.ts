import { CannotKnow } from './cannot-know.js';
import type { Message, Player } from './message.js';
import { callbackOf, unitsOf } from './model/callback-of.js';
import { newPlayer, type ReferencePlayer, type ReferenceTurn, ReferenceWallet } from './model/reference-wallet.js';
import type { PlatformName } from './platform-name.js';
import { type Profile, rulesOf } from './profile.js';

/**
 * The content of an answer, with balances in units. For checkBalance, `before` and `after` are both the balance. An
 * answer whose code or balances cannot be read lacks them.
 */
export interface StatedResult {
  /** NaN if there is no code. */
  readonly code: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

/** Number of newest messages without an answer that may still be in transit. */
const LATE_MAX = 4;
/** Maximum number of messages that may be carried out twice, because n concurrent messages have n! possible orders. */
const REPEATED_MAX = 2;
/** Returns the states that result if the operator has forgotten the rounds that these messages name. */
export type Forgotten = (world: ReferencePlayer, messages: readonly Message[]) => readonly ReferencePlayer[];

/** The model of each platform. */
const MODELS = { callbacks: ReferenceWallet } as const satisfies Readonly<Record<PlatformName, unknown>>;

/** A history ends once it has more possible states than this. */
const WORLDS_MAX = 200;

/**
 * Follows one player. After a lost answer, or after concurrent messages, the judge cannot know the operator's state. It
 * therefore keeps every possible state (a world), and each answer eliminates the worlds that contradict it. If no world
 * is left, no order and no loss explains the operator's answers.
 */
export class Judge {
  private readonly reference: ReferenceWallet;
  private worlds: readonly ReferencePlayer[];
  /** Messages whose answers were lost. */
  private readonly late: Message[] = [];
  /** Turns cached for the current worlds. */
  private readonly turns = new Map<ReferencePlayer, Map<Message, ReferenceTurn>>();

  constructor(
    private readonly profile: Profile,
    private readonly player: Player,
    private readonly forgotten: Forgotten = () => [],
  ) {
    this.reference = new MODELS[profile.platform](rulesOf(profile));
    this.worlds = [newPlayer(player.currency, unitsOf(player.balance, profile.decimals))];
  }

  /** All answers that are possible now. */
  expected(message: Message): StatedResult[] {
    const answers = this.worlds
      .map((world) => this.turn(world, message).answer)
      .map((answer) => ({ ...answer, code: this.codeOf(answer.code) }));
    return answers.filter((one, n) => answers.findIndex((other) => isSame(one, other)) === n);
  }

  /** Answers to concurrent messages that are carried out in this order. */
  expectedInOrder(messages: readonly Message[]): StatedResult[] {
    let world = this.worlds[0] as ReferencePlayer;
    return messages.map((message) => {
      const { answer, player } = this.turn(world, message);
      world = player;
      return { ...answer, code: this.codeOf(answer.code) };
    });
  }

  /** Balances that the player may have now. */
  balances(): number[] {
    return balancesOf(this.worlds);
  }

  /** Balances that the player may have after these messages, in this order. */
  balancesAfter(messages: readonly Message[]): number[] {
    const end = (world: ReferencePlayer) => messages.reduce((before, next) => this.turn(before, next).player, world);
    return balancesOf(this.worlds.map(end));
  }

  /** Balances that the player may have after concurrent messages, in any order that explains the codes of the answers. */
  balancesByCodes(messages: readonly Message[], stated: readonly (StatedResult | undefined)[]): number[] {
    const left = messages.map((message, n) => ({ message, stated: codeAlone(stated[n]) }));
    return balancesOf(this.worlds.flatMap((world) => this.ordersOf(world, left)));
  }

  /** Records a message that was sent, but may arrive later or never. */
  outcomeUnknown(message: Message): void {
    this.late.push(message);
    this.forget([message]);
    this.keep([...this.worlds, ...this.worlds.map((world) => this.turn(world, message).player)]);
  }

  /** Records the answer to a message. Returns false if no world allows it. */
  fitsAnswer(message: Message, stated: StatedResult): boolean {
    return this.answeredAtOnce([message], [stated]);
  }

  /**
   * Records the answers to concurrent messages. An undefined answer was lost. Returns false if no order explains the
   * answers.
   */
  answeredAtOnce(messages: readonly Message[], stated: readonly (StatedResult | undefined)[]): boolean {
    this.forget(messages);
    const left = messages.map((message, n) => ({ message, stated: stated[n] }));
    const after = (worlds: readonly ReferencePlayer[]) =>
      worlds.length === 1
        ? this.ordersOf(worlds[0] as ReferencePlayer, left)
        : worlds.flatMap((world) => this.ordersOf(world, left));
    let worlds = after(this.worlds);
    if (worlds.length === 0) worlds = after(this.worldsWithLateArrivals());
    if (worlds.length === 0) worlds = this.afterRepeats(left);
    if (worlds.length === 0) return false;
    this.keep(worlds);
    return true;
  }

  private forget(messages: readonly Message[]): void {
    const forgotten = this.worlds.flatMap((world) => this.forgotten(world, messages));
    if (forgotten.length > 0) this.keep([...this.worlds, ...forgotten]);
  }

  /** Worlds in which some messages without an answer have arrived since. */
  private worldsWithLateArrivals(): ReferencePlayer[] {
    let worlds = [...this.worlds];
    for (const message of this.late.slice(-LATE_MAX)) {
      worlds = worlds.concat(worlds.map((world) => this.turn(world, message).player));
    }
    return worlds;
  }

  /**
   * Worlds in which an operator with several servers carries out a message twice. One server fails before it answers,
   * and the other messages may be carried out before the retry. For example, a bet is placed, cancelled with its round,
   * and then answered as a cancelled bet. A message sent alone would get its first answer again.
   */
  private afterRepeats(left: readonly Exchange[]): ReferencePlayer[] {
    if (left.length === 1 || left.length > REPEATED_MAX) return [];
    const twice = [...left, ...left.map(({ message }): Exchange => ({ message, stated: undefined }))];
    return this.worlds.flatMap((world) => this.ordersOf(world, twice));
  }

  private ordersOf(world: ReferencePlayer, left: readonly Exchange[]): ReferencePlayer[] {
    if (left.length === 0) return [world];
    // Shortcut for the usual case of a single message.
    if (left.length === 1) return this.after(world, left[0] as Exchange, []);
    return left.flatMap((next) =>
      this.after(
        world,
        next,
        left.filter((one) => one !== next),
      ),
    );
  }

  private after(world: ReferencePlayer, { message, stated }: Exchange, others: readonly Exchange[]): ReferencePlayer[] {
    const { answer, player } = this.turn(world, message);
    if (stated === undefined) return [...this.ordersOf(player, others), ...this.ordersOf(world, others)];
    return this.fits(answer, stated) ? this.ordersOf(player, others) : [];
  }

  /**
   * Cached, because a turn changes nothing: the turn computed for the expected answers is reused when the answer
   * arrives.
   */
  private turn(world: ReferencePlayer, message: Message): ReferenceTurn {
    const turns = this.turns.get(world) ?? new Map<Message, ReferenceTurn>();
    const known = turns.get(message);
    if (known !== undefined) return known;
    const turn = this.newTurn(world, message);
    this.turns.set(world, turns.set(message, turn));
    return turn;
  }

  private newTurn(world: ReferencePlayer, message: Message): ReferenceTurn {
    if (message.refusal !== undefined) return { answer: { code: message.refusal }, player: world };
    if (message.endpoint !== 'checkBalance') {
      return this.reference.turn(world, callbackOf(message, this.player, this.profile.decimals), 0);
    }
    const { currency } = { ...this.player, ...message.envelope };
    const { balance } = world;
    const answer =
      currency === world.currency ? { code: 0 as const, before: balance, after: balance } : { code: 40003 };
    return { answer, player: world };
  }

  private fits(expected: StatedResult, stated: StatedResult): boolean {
    if (expected.code === 0 || stated.code === 0) return isStated(expected, stated);
    if (this.profile.codes === 'any') return !Number.isNaN(stated.code);
    return stated.code === this.codeOf(expected.code);
  }

  private codeOf(code: number): number {
    const isClosed = code === 20003 || code === 20004;
    return isClosed && this.profile['statusCodes.closed'] === 'duplicate' ? 20002 : code;
  }

  private keep(worlds: readonly ReferencePlayer[]): void {
    this.turns.clear();
    // Remove duplicates: after a refusal or a repeat, the state is the same object as before.
    const own = worlds.length === 1 ? worlds : [...new Set(worlds)];
    if (own.length === 1) {
      this.worlds = own;
      return;
    }
    const different = new Map(own.map((world) => [JSON.stringify(world), world]));
    if (different.size > WORLDS_MAX) throw new CannotKnow('too many answers were lost to tell what has happened');
    this.worlds = [...different.values()];
  }
}

interface Exchange {
  readonly message: Message;
  readonly stated: StatedResult | undefined;
}

/** True if all that the answer tells is as expected. */
function isStated(expected: StatedResult, stated: StatedResult): boolean {
  const isRight = (units: number | undefined, statedUnits: number | undefined) =>
    statedUnits === undefined || statedUnits === units;
  return (
    expected.code === stated.code && isRight(expected.before, stated.before) && isRight(expected.after, stated.after)
  );
}

function codeAlone(stated: StatedResult | undefined): StatedResult | undefined {
  return stated && { code: stated.code };
}

function balancesOf(worlds: readonly ReferencePlayer[]): number[] {
  return [...new Set(worlds.map(({ balance }) => balance))];
}

function isSame(one: StatedResult, other: StatedResult): boolean {
  return one.code === other.code && one.before === other.before && one.after === other.after;
}
