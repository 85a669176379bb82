import type { Element, Message } from '../../src/simulate/message.js';
import { BY_ROUND, but, Platform, SKIP } from '../../src/simulate/platform.js';
import type { Random } from '../simulation/random.js';

const IDS = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9'];
const ROUNDS = ['r0', 'r1', 'r2', 'r3'];
const STAKES = [5, 10, 25];
const PAYOUTS = [0, 5, 10, 40];
const MOVEMENTS = [1, 5, 30];
const PRODUCTS = ['P1', 'P2'];

/** Number of ids used by most messages, so that these ids go through several states. */
const FOCUS_IDS = 3;
const FOCUS_CHANGE = 0.1;
const FOCUS = 0.75;
const STRAY = 0.1;
/** Share of messages that repeat an earlier one under a new request id, unchanged or with one field changed. */
const ANEW = 0.07;
const VARIED = 0.1;
const ARRAY_LENGTHS = [1, 1, 1, 1, 1, 1, 2, 2, 3];

type Kind = (id: string) => Message;

/** Draws the messages of one history. Each is a new request with a later time than the previous one. */
export class MessageDrawer {
  private readonly platform = new Platform();
  private readonly past: Message[] = [];
  private focus: readonly string[] = [];
  /** Usual round of each id; `stakes` contains the usual stakes. */
  private readonly homes: ReadonlyMap<string, string>;
  private readonly stakes: ReadonlyMap<string, number>;
  private readonly product: string;
  private readonly kinds: readonly (readonly [weight: number, kind: Kind])[];
  private readonly weights: number;

  constructor(private readonly random: Random) {
    this.homes = new Map(IDS.map((id) => [id, random.pick(ROUNDS)]));
    this.stakes = new Map(IDS.map((id) => [id, random.pick(STAKES)]));
    this.product = random.pick(PRODUCTS);
    this.kinds = this.makeKinds();
    this.weights = this.kinds.reduce((sum, [weight]) => sum + weight, 0);
  }

  next(): Message {
    const message = this.draw();
    this.past.push(message);
    return message;
  }

  private draw(): Message {
    const { random, platform, past } = this;
    if (past.length > 0 && random.chance(ANEW)) return platform.anew(random.pick(past));
    if (past.length > 0 && random.chance(VARIED)) return platform.anew(this.varied(random.pick(past)));
    const kind = this.drawKind();
    const [first, ...more] = Array.from({ length: random.pick(ARRAY_LENGTHS) }, () => kind(this.id())) as [Message];
    const productId = random.chance(STRAY) ? random.pick(PRODUCTS) : this.product;
    return { ...(more.length === 0 ? first : platform.array(first, ...more)), envelope: { productId } };
  }

  private makeKinds(): (readonly [number, Kind])[] {
    const { platform, random } = this;
    const round = (id: string) => ({ roundId: random.chance(STRAY) ? random.pick(ROUNDS) : this.homes.get(id) });
    const stake = (id: string) => (random.chance(STRAY) ? random.pick(STAKES) : (this.stakes.get(id) as number));
    const payout = () => random.pick(PAYOUTS);
    const end = () => (random.chance(0.12) ? { isEndRound: true } : {});
    const skip = () => (random.chance(0.12) ? SKIP : {});
    const byRound = (share: number): Element => (random.chance(share) ? BY_ROUND : {});
    const status = () => ({ status: random.pick(['OPEN', 'OPEN', 'OPEN', 'WAITING']) });
    return [
      [16, (id) => platform.bet(id, stake(id), { ...round(id), ...status(), ...skip() })],
      [12, (id) => platform.settle(id, payout(), { ...round(id), ...end(), ...skip() })],
      [6, (id) => platform.settleRound(id, payout(), { ...round(id), ...end(), ...skip() })],
      [4, (id) => platform.single(id, stake(id), payout(), { ...round(id), ...end(), ...skip() })],
      [5, (id) => platform.adjust(id, random.pick(STAKES), round(id))],
      [5, (id) => platform.void(id, stake(id), payout(), { ...round(id), ...byRound(0.3) })],
      [6, (id) => platform.cancel(id, stake(id), { ...round(id), ...byRound(0.3) })],
      [3, (id) => platform.tip(id, stake(id), { ...round(id), ...skip() })],
      [2, (id) => platform.cancelTip(id, stake(id), round(id))],
      [3, (id) => platform.reward(id, payout(), round(id))],
      [3, (id) => platform.move(id, random.pick(['DEBIT', 'CREDIT'] as const), random.pick(MOVEMENTS))],
      [7, (id) => platform.rollback(id, stake(id), payout(), { ...round(id), ...byRound(0.4), ...skip() })],
    ];
  }

  private drawKind(): Kind {
    let left = this.random.below(this.weights);
    const drawn = this.kinds.find(([weight]) => {
      left -= weight;
      return left < 0;
    });
    return (drawn as readonly [number, Kind])[1];
  }

  private id(): string {
    const { random } = this;
    if (this.focus.length === 0 || random.chance(FOCUS_CHANGE)) {
      this.focus = Array.from({ length: FOCUS_IDS }, () => random.pick(IDS));
    }
    return random.pick(random.chance(FOCUS) ? this.focus : IDS);
  }

  /** The message with one field changed in all elements; unchanged if they lack the field. */
  private varied(message: Message): Message {
    const { random } = this;
    const change = random.pick<Element>([
      { skipBalanceUpdate: random.chance(0.5) },
      { payoutAmount: random.pick(PAYOUTS) },
      { betAmount: random.pick(STAKES) },
      { transactionType: random.pick(['BY_ROUND', 'BY_TRANSACTION']) },
      { roundId: random.pick(ROUNDS) },
      { isEndRound: random.chance(0.5) },
    ]);
    const [field] = Object.keys(change) as [string];
    const isOptional = field === 'skipBalanceUpdate' && SKIPPING.includes(message.endpoint);
    return isOptional || message.txns.every((txn) => field in txn) ? but(message, change) : message;
  }
}

const SKIPPING: readonly string[] = ['placeBets', 'settleBets', 'placeTips', 'rollback'];
