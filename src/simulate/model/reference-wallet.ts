import type { Callback, CheckBalance, Correction, ReferenceRules } from './callback.js';

/*
 * The naive wallet: a second implementation of decisions.md, written for readability rather than speed. It uses plain
 * objects and linear searches, and undoes an array by discarding its copy. It shares no code with src/wallet.
 */
interface Entry {
  readonly what: 'place' | 'settle' | 'adjust' | 'void' | 'cancel' | 'rollback';
  readonly amount: number;
  readonly status: string;
  readonly skip: boolean;
  readonly request: string;
  readonly sent: number;
  /** Set for a rollback of the complete round. */
  readonly ofRound: boolean;
  /** True if a later rollback has undone this entry. */
  readonly undone: boolean;
  readonly before: number;
  readonly after: number;
  readonly version: number;
  /** For a copy: the newest entry of a different message that the copy stands for. */
  readonly standsFor?: Entry;
}

interface Bet {
  product: string;
  id: string;
  round: string;
  kind: 'bet' | 'tip' | 'tombstone';
  state: string;
  stake: number;
  held: number;
  paid: number;
  /** The amount that a refund gave back. */
  returned: number;
  opened: boolean;
  taken: boolean;
  paidOut: boolean;
  single: boolean;
  settledByRound: boolean;
  /** True if a single-state message settled the bet. */
  singly: boolean;
  /** The state that the newest rollback has undone. */
  openedFrom: string;
  /** Rollback requests that were repeats, each with the entry that it repeated. */
  asked: { readonly request: string; readonly entry: Entry }[];
  entries: Entry[];
}

interface Settlement {
  product: string;
  round: string;
  id: string;
  state: string;
  payout: number;
  paid: number;
  paidOut: boolean;
  betIds: string[];
  entries: Entry[];
}

interface Closing {
  readonly product: string;
  readonly round: string;
  readonly id: string;
  readonly what: 'void' | 'cancel';
  readonly request: string;
  readonly before: number;
  readonly after: number;
  readonly version: number;
}

interface Reward {
  product: string;
  id: string;
  round: string;
  payout: number;
  state: string;
  paid: number;
  entries: Entry[];
}

interface Movement {
  product: string;
  ref: string;
  status: string;
  entries: Entry[];
}

export interface ReferencePlayer {
  currency: string;
  balance: number;
  version: number;
  blocked: boolean;
  /** The digest of the session token, and the end of the session; null means that it never ends. */
  session: { readonly digest: string; readonly endMs: number | null } | undefined;
  bets: Bet[];
  settlements: Settlement[];
  closings: Closing[];
  rewards: Reward[];
  movements: Movement[];
  marks: { product: string; round: string; at: number; counted: boolean }[];
  endedRounds: string[];
  rollbacks: {
    readonly product: string;
    readonly round: string;
    readonly request: string;
    readonly entry: Entry;
  }[];
  /** Requests that settled or cancelled a complete round and that a rollback has undone. */
  undone: { readonly product: string; readonly round: string; readonly request: string }[];
  /** Acknowledged messages that cannot be derived from their effects, each with the first round that it names. */
  remembered: {
    readonly product: string;
    readonly round: string;
    readonly message: string;
    readonly before: number;
    readonly after: number;
  }[];
  tipDays: number[];
  /** All operations with an id. Two operations are the same if their `what` is equal. */
  operations: { readonly id: string; readonly what: string; readonly before: number; readonly after: number }[];
}

export type ReferenceAnswer =
  | { code: 0; before: number; after: number }
  | { code: number; before?: undefined; after?: undefined };

export interface ReferenceTurn {
  readonly answer: ReferenceAnswer;
  readonly player: ReferencePlayer;
}

type Txn = Callback['txns'][number];
type Of<K extends Callback['type']> = Extract<Callback, { type: K }>['txns'][number];

/**
 * Thrown to refuse a callback, and always caught. It is not an Error, because a stack trace costs more than everything
 * else here.
 */
class Refused {
  constructor(
    readonly code: number,
    /** Side effect that remains although the request failed. */
    readonly residue?: (player: ReferencePlayer) => void,
  ) {}
}

interface Effect {
  repeat: boolean;
  /** For a repeat, the entry whose message was repeated. */
  source?: object;
  /** True for a repeat that has a different status or skip. */
  isOther?: boolean;
  /** Set for a repeat whose request was unknown until now and has just been remembered. */
  remembered?: boolean;
  /** Round that must remember a repeat, if its request differs from the one that had the effect. */
  home?: string;
  before: number;
  after: number;
  version: number;
}

export class ReferenceWallet {
  players = new Map<string, ReferencePlayer>();
  /** The id and time of the callback that is being processed. */
  private request = '';
  private sent = 0;

  constructor(private readonly rules: ReferenceRules) {}

  create(username: string, currency: string, balance: number): void {
    this.players.set(username, newPlayer(currency, balance));
  }

  balance({ username, currency, session }: CheckBalance, nowMs: number): ReferenceAnswer {
    const player = this.players.get(username);
    if (player === undefined) return { code: 10001 };
    if (player.currency !== currency) return { code: 40003 };
    if (!this.letsIn(player, session, nowMs)) return { code: 30001 };
    return { code: 0, before: player.balance, after: player.balance };
  }

  correct(command: Correction): ReferenceAnswer {
    const player = this.players.get(command.username);
    if (player === undefined) return { code: 10001 };
    const { id, amount, reason } = command;
    const what = `correction of ${amount} because ${reason}`;
    const known = player.operations.find((one) => one.id === id);
    if (known !== undefined) {
      return known.what === what ? { code: 0, before: known.before, after: known.after } : { code: 20002 };
    }
    const before = player.balance;
    const after = before + amount;
    if (amount < 0 && after < 0 && !command.allowNegativeBalance) return { code: 10002 };
    player.operations.push({ id, what, before, after });
    player.balance = after;
    player.version++;
    return { code: 0, before, after };
  }

  answer(command: Callback, nowMs: number): ReferenceAnswer {
    const player = this.players.get(command.username);
    if (player === undefined) return { code: 10001 };
    const turn = this.turn(player, command, nowMs);
    this.players.set(command.username, turn.player);
    return turn.answer;
  }

  /** Computes the answer and the player's next state. Does not modify the given player. */
  turn(player: ReferencePlayer, command: Callback, nowMs: number): ReferenceTurn {
    if (player.currency !== command.currency) return { answer: { code: 40003 }, player };

    const today = this.today(player, command, nowMs);
    const message = this.messageOf(command);
    const known = player.remembered.find(
      (one) => one.product === command.productId && one.message === message && isNamed(player, command, one.round),
    );
    if (known === undefined) return today.home === undefined ? today : this.remember(player, command, today);
    // A message that was acknowledged before has no further effect, whatever it would do if it were new.
    const { code } = today.answer;
    if (code === 20002 || code === 20003 || code === 20004) return { answer: { code }, player };
    const closes = command.type === 'settleBets' || command.type === 'cancelBets' || command.type === 'cancelTips';
    const isUndone = closes && today.player !== player && namesReopened(player, command);
    if (isUndone || this.rules.duplicates === 'reject') return { answer: { code: 20002 }, player };
    return { answer: { code: 0, before: known.before, after: known.after }, player };
  }

  private remember(
    player: ReferencePlayer,
    command: Callback,
    today: ReferenceTurn & { home?: string },
  ): ReferenceTurn {
    const { answer, home } = today;
    if (home === undefined) return today;
    const { productId: product } = command;
    const ofRound = player.remembered.filter((one) => one.product === product && one.round === home);
    const hasEffect = today.player !== player;
    const isFull = ofRound.length >= Math.min(this.rules.historyMax, REMEMBERED_MAX);
    if (!hasEffect && isFull) return { answer: { code: 20002 }, player };
    const { before = 0, after = 0 } = answer;
    const remembered = [
      ...today.player.remembered,
      { product, round: home, message: this.messageOf(command), before, after },
    ];
    return { answer, player: { ...today.player, remembered, version: player.version + 1 } };
  }

  /**
   * Computes the answer as if no complete message were remembered, and finds the round that must remember this message.
   */
  private today(player: ReferencePlayer, command: Callback, nowMs: number): ReferenceTurn & { home?: string } {
    this.request = command.id;
    this.sent = command.timestampMillis;
    const copy = copyOf(player);
    const version = player.version + 1;
    const effects: Effect[] = [];
    const ended: string[] = [];
    const closed: Closed[] = [];
    let idle = 0;
    let changed = false;
    try {
      for (const txn of command.txns) {
        try {
          const effect = this.one(copy, command, txn, version, nowMs, closed);
          if (effect.repeat && this.rules.duplicates === 'reject') throw new Refused(20002);
          effects.push(effect);
          changed ||= !effect.repeat || effect.remembered === true;
          closed.push(...closedBy(copy, command, txn, effect));
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          const done = error.code === 20003 && isClosedWithRound(copy, command, txn, closed);
          if (!done && (command.type !== 'cancelBets' || error.code !== 20001)) throw error;
          idle++;
          if (error.residue !== undefined) {
            error.residue(copy);
            changed = true;
          }
        }
        // Collect the rounds that end here, because the end of a round takes effect only with the next request.
        ended.push(...copy.endedRounds.splice(player.endedRounds.length));
      }
      copy.endedRounds.push(...ended);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { answer: { code: error.code }, player: withResidue(player, error, version) };
    }
    const answer = this.answerOf(command, effects, idle, player.balance, copy.balance);
    if (changed) copy.version = version;
    const turn = { answer, player: changed ? copy : player };
    const home = answer.code === 0 ? homeOf(copy, command, effects, idle) : undefined;
    return home === undefined ? turn : { ...turn, home };
  }

  private answerOf(
    command: Callback,
    effects: readonly Effect[],
    idle: number,
    before: number,
    after: number,
  ): ReferenceAnswer {
    if (effects.some((effect) => !effect.repeat)) return { code: 0, before, after };
    if (idle === command.txns.length) return { code: 20001 };
    const placeOf = ({ source }: Effect) => {
      const own = effects.findIndex((one) => one.source === source && !one.isOther);
      return own === -1 ? effects.findIndex((one) => one.source === source) : own;
    };
    const once = effects.filter((effect, i) => placeOf(effect) === i);
    const newest = once.filter((effect) => effect.version === Math.max(...effects.map((one) => one.version)));
    return { code: 0, before: newest[0]?.before as number, after: newest.at(-1)?.after as number };
  }

  private one(
    player: ReferencePlayer,
    command: Callback,
    txn: Txn,
    version: number,
    nowMs: number,
    closed: readonly Closed[],
  ): Effect {
    const isClosedHere = closed.some((one) => one.round === txn.roundId && !one.repeat);
    switch (command.type) {
      case 'placeBets':
        return this.place(player, command, txn as Of<'placeBets'>, version, nowMs);
      case 'settleBets': {
        const settle = txn as Of<'settleBets'>;
        if (settle.isSingleState) return this.single(player, command, settle, version);
        if (settle.byRound) return this.settleRound(player, command, settle, version);
        return this.settle(player, command, settle, version);
      }
      case 'adjustBets':
        return this.adjust(player, command, txn as Of<'adjustBets'>, version);
      case 'voidSettled': {
        const voided = txn as Of<'voidSettled'>;
        return voided.byRound
          ? this.voidRound(player, command, voided, version, isClosedHere)
          : this.void(player, command, voided, version);
      }
      case 'cancelBets': {
        const cancel = txn as Of<'cancelBets'>;
        return cancel.byRound
          ? this.cancelRound(player, command, cancel, version, isClosedHere)
          : this.cancel(player, command, cancel, version);
      }
      case 'cancelTips':
        return this.tip(player, command, txn as Of<'cancelTips'>, version, nowMs);
      case 'rollback': {
        const rollback = txn as Of<'rollback'>;
        return rollback.byRound
          ? this.rollbackRound(player, command, rollback, version, isClosedHere)
          : this.rollback(player, command, rollback, version);
      }
      case 'placeTips':
        return this.placeTip(player, command, txn as Of<'placeTips'>, version, nowMs);
      case 'winRewards':
        return this.reward(player, command, txn as Of<'winRewards'>, version);
      case 'adjustBalance':
        return this.movement(player, command, txn as Of<'adjustBalance'>, version);
    }
  }

  private place(
    player: ReferencePlayer,
    command: Callback,
    txn: Of<'placeBets'>,
    version: number,
    nowMs: number,
  ): Effect {
    const bet = find(player, command.productId, txn.id);
    const skip = txn.skipBalanceUpdate;
    if (bet === undefined) {
      this.refuseStranger(player, command, nowMs);
      if (isMarked(player, command, txn.roundId)) throw new Refused(20003);
      if (this.rules.roundEnded === 'refuse-all' && isEnded(player, command.productId, txn.roundId))
        throw new Refused(20004);
      if (player.bets.filter(isOpen).length >= this.rules.openBetsMax) throw new Refused(40003);
      if (!skip && txn.betAmount > 0 && player.balance < txn.betAmount) throw new Refused(10002);
      const fresh = newBet(command.productId, txn.id, txn.roundId, 'bet', txn.status, txn.betAmount);
      fresh.opened = txn.status === 'OPEN';
      fresh.taken = !skip;
      fresh.held = skip ? 0 : txn.betAmount;
      player.bets.push(fresh);
      return this.move(player, -fresh.held, version, fresh, {
        what: 'place',
        amount: txn.betAmount,
        status: txn.status,
        skip,
      });
    }
    const alive = bet.kind === 'bet' && !bet.single && !isReversed(bet);
    const opens = alive && txn.status === 'OPEN' && !bet.opened;
    const takes = alive && !skip && !bet.taken;
    if (bet.kind === 'bet' && bet.round === txn.roundId) {
      const own = this.ownPlacing(bet, txn.betAmount, txn.status, skip);
      const entry = own ?? (opens || takes ? undefined : alike(bet, 'place', txn.betAmount, txn.status, skip));
      if (entry !== undefined) {
        if (isReversed(bet)) throw new Refused(20003);
        return repeatOf(entry, own === undefined ? bet.round : undefined);
      }
    }
    this.refuseStranger(player, command, nowMs);
    if (bet.kind !== 'bet') throw new Refused(bet.state === 'TIPS' ? 20002 : 20003);
    const isUntouched = !bet.taken && !bet.entries.some((one) => one.what === 'adjust');
    const changesStake = this.rules.confirmsOtherStake && opens && isUntouched;
    if (!(opens || takes) || bet.round !== txn.roundId) throw new Refused(20002);
    if (bet.stake !== txn.betAmount && !changesStake) throw new Refused(20002);
    bet.stake = changesStake ? txn.betAmount : bet.stake;
    if (takes && bet.stake > 0 && player.balance < bet.stake) throw new Refused(10002);
    if (txn.status === 'OPEN') {
      bet.opened = true;
      if (bet.state === 'WAITING') bet.state = 'OPEN';
    }
    if (takes) {
      bet.taken = true;
      bet.held = bet.stake;
    }
    const moved = takes ? -bet.stake : 0;
    return this.move(player, moved, version, bet, { what: 'place', amount: txn.betAmount, status: txn.status, skip });
  }

  private single(player: ReferencePlayer, command: Callback, txn: Of<'settleBets'>, version: number): Effect {
    const bet = find(player, command.productId, txn.id);
    const skip = txn.skipBalanceUpdate;
    if (bet !== undefined && this.isStale(player, bet)) throw new Refused(20002);
    const same = bet?.singly === true && bet.stake === txn.betAmount;
    const entry = same ? alike(bet, 'settle', txn.payoutAmount, '', skip) : undefined;
    const pays = entry !== undefined && bet !== undefined && !isReversed(bet) && !bet.paidOut && !skip;
    if (bet !== undefined && entry !== undefined && !pays) {
      if (isReversed(bet)) throw new Refused(20003);
      return this.repeatIn(bet, entry);
    }
    this.refuseOpening(player, command.productId);
    const again = bet?.single === true && isOpen(bet);
    if (bet !== undefined && !pays && !again) {
      if (isOpen(bet) || bet.state === 'TIPS') throw new Refused(20002);
      throw new Refused(bet.state === 'SETTLED' ? 20004 : 20003);
    }
    if (bet === undefined && this.rules.cancelStopsSingleState && isMarked(player, command, txn.roundId)) {
      throw new Refused(20003);
    }
    if (
      bet === undefined &&
      this.rules.roundEnded === 'refuse-all' &&
      isEnded(player, command.productId, txn.roundId)
    ) {
      throw new Refused(20004);
    }
    const had = bet?.held ?? 0;
    if (skip && bet?.taken === true && had !== txn.betAmount) throw new Refused(20002);
    const more = txn.betAmount - had;
    if (!skip && more > 0 && player.balance < more) throw new Refused(10002);
    const target = bet ?? newBet(command.productId, txn.id, txn.roundId, 'bet', 'SETTLED', txn.betAmount);
    if (bet === undefined) player.bets.push(target);
    target.state = 'SETTLED';
    target.stake = txn.betAmount;
    target.single = true;
    target.singly = true;
    if (!skip) {
      target.taken = true;
      target.paidOut = true;
      target.held = txn.betAmount;
      target.paid = txn.payoutAmount;
    }
    if (txn.isEndRound) player.endedRounds.push(key(command.productId, target.round));
    const moved = skip ? 0 : txn.payoutAmount - more;
    return this.move(player, moved, version, target, { what: 'settle', amount: txn.payoutAmount, skip });
  }

  private settle(player: ReferencePlayer, command: Callback, txn: Of<'settleBets'>, version: number): Effect {
    const bet = find(player, command.productId, txn.id);
    if (bet === undefined || bet.state === 'TIPS') throw new Refused(20001);
    const skip = txn.skipBalanceUpdate;
    if (this.isStale(player, bet)) throw new Refused(20002);
    if (isReversed(bet)) throw new Refused(20003);
    if (!isOpen(bet)) {
      if (bet.singly || bet.settledByRound) throw new Refused(20004);
      const entry = alike(bet, 'settle', txn.payoutAmount, '', skip);
      if (entry === undefined) throw new Refused(20004);
      if (skip || bet.paidOut) return this.repeatIn(bet, entry);
    }
    bet.state = 'SETTLED';
    if (!skip) {
      bet.paidOut = true;
      bet.paid = txn.payoutAmount;
    }
    if (txn.isEndRound) player.endedRounds.push(key(command.productId, bet.round));
    return this.move(player, skip ? 0 : txn.payoutAmount, version, bet, {
      what: 'settle',
      amount: txn.payoutAmount,
      skip,
    });
  }

  private settleRound(player: ReferencePlayer, command: Callback, txn: Of<'settleBets'>, version: number): Effect {
    const product = command.productId;
    const skip = txn.skipBalanceUpdate;
    const bets = betsOf(player, product, txn.roundId);
    const all = settlementsOf(player, product, txn.roundId);
    const known = all.find((one) => one.id === txn.id);
    if (this.isStaleInRound(player, product, txn.roundId)) throw new Refused(20002);
    if (known !== undefined) {
      if (known.state === 'VOID') throw new Refused(20003);
      if (known.payout !== txn.payoutAmount) throw new Refused(20004);
      const runsAgain = bets.some((bet) => known.betIds.includes(bet.id) && isOpen(bet));
      const isItsOwn = known.entries.some((one) => one.request === command.id);
      if (runsAgain && !isItsOwn) throw new Refused(20004);
      if (skip || known.paidOut) {
        return this.repeatIn(known, alike(known, 'settle', txn.payoutAmount, '', skip) as Entry);
      }
      const own = known.betIds.length > 0 ? bets.filter((bet) => known.betIds.includes(bet.id)) : bets;
      if (own.every(isReversed)) throw new Refused(20003);
    } else {
      if (bets.length === 0) throw new Refused(20001);
      if (bets.every(isReversed)) throw new Refused(20003);
      const nothingOpen = !bets.some(isOpen);
      if (nothingOpen && this.rules.roundEnded !== 'ignore' && isEnded(player, product, txn.roundId))
        throw new Refused(20004);
      const undone = player.undone.filter((one) => one.product === product && one.round === txn.roundId);
      if (all.length + undone.length >= this.rules.historyMax) throw new Refused(40003);
    }
    const settlement: Settlement = known ?? {
      product,
      round: txn.roundId,
      id: txn.id,
      state: 'SETTLED',
      payout: txn.payoutAmount,
      paid: 0,
      paidOut: false,
      betIds: [],
      entries: [],
    };
    if (known === undefined) {
      player.settlements.push(settlement);
      for (const bet of bets.filter(isOpen)) {
        bet.state = 'SETTLED';
        bet.settledByRound = true;
        settlement.betIds.push(bet.id);
      }
    }
    if (!skip) {
      settlement.paidOut = true;
      settlement.paid = txn.payoutAmount;
    }
    if (txn.isEndRound) player.endedRounds.push(key(product, txn.roundId));
    const moved = skip ? 0 : txn.payoutAmount;
    return this.move(player, moved, version, settlement, { what: 'settle', amount: txn.payoutAmount, skip });
  }

  private adjust(player: ReferencePlayer, command: Callback, txn: Of<'adjustBets'>, version: number): Effect {
    const bet = find(player, command.productId, txn.id);
    if (bet === undefined || bet.state === 'TIPS') throw new Refused(20001);
    const entry = bet.entries.find((one) => one.what === 'adjust' && one.request === command.id);
    if (entry !== undefined) {
      if (entry.amount !== txn.betAmount) throw new Refused(20002);
      return repeatOf(entry);
    }
    if (!isOpen(bet)) throw new Refused(bet.state === 'SETTLED' ? 20004 : 20003);
    if (bet.entries.filter((one) => one.what === 'adjust').length >= this.rules.historyMax) throw new Refused(40003);
    const moved = bet.taken ? bet.held - txn.betAmount : 0;
    if (moved < 0 && player.balance + moved < 0) throw new Refused(10002);
    bet.stake = txn.betAmount;
    if (bet.taken) bet.held = txn.betAmount;
    return this.move(player, moved, version, bet, { what: 'adjust', amount: txn.betAmount, request: command.id });
  }

  private void(player: ReferencePlayer, command: Callback, txn: Of<'voidSettled'>, version: number): Effect {
    const bet = find(player, command.productId, txn.id);
    const reward = player.rewards.find((one) => one.product === command.productId && one.id === txn.id);
    const entry = reward?.entries.find((one) => one.what === 'void');
    if (reward !== undefined && (bet === undefined || bet.kind === 'tombstone' || entry?.request === command.id)) {
      if (entry !== undefined) return repeatOf(entry, entry.request === this.request ? undefined : reward.round);
      const moved = -reward.paid;
      if (!this.rules.voidAllowNegativeBalance && moved < 0 && player.balance + moved < 0) throw new Refused(10002);
      reward.state = 'VOID';
      reward.paid = 0;
      return this.move(player, moved, version, reward, { what: 'void', amount: 0 });
    }
    if (bet === undefined || isOpen(bet) || bet.state === 'TIPS') throw new Refused(20001);
    if (isReversed(bet)) {
      const entry = bet.state === 'VOID' ? bet.entries.find((one) => one.what === 'void') : undefined;
      if (entry === undefined) throw new Refused(20003);
      return repeatOf(entry);
    }
    let paid = bet.paid;
    const taken: [Settlement, number][] = [];
    if (bet.settledByRound) {
      paid = 0;
      for (const settlement of settlementsOf(player, bet.product, bet.round)) {
        const part = Math.min(settlement.paid, txn.payoutAmount - paid);
        taken.push([settlement, part]);
        paid += part;
      }
    }
    const moved = this.voidMove(player, bet.held - paid, txn);
    for (const [settlement, part] of taken) settlement.paid -= part;
    bet.state = 'VOID';
    bet.held = 0;
    bet.paid = 0;
    return this.move(player, moved, version, bet, { what: 'void', amount: 0 });
  }

  private voidRound(
    player: ReferencePlayer,
    command: Callback,
    txn: Of<'voidSettled'>,
    version: number,
    isClosedHere: boolean,
  ): Effect {
    const product = command.productId;
    const bets = betsOf(player, product, txn.roundId);
    if (bets.length === 0) throw new Refused(20001);
    const closing = closingOf(player, product, txn.roundId, 'void', txn.id);
    if (closing !== undefined) return repeatOf(closing);
    const settled = bets.filter((bet) => bet.state === 'SETTLED');
    const settlements = settlementsOf(player, product, txn.roundId);
    const paid = [...settled, ...settlements].reduce((sum, one) => sum + one.paid, 0);
    const nothing = settled.length === 0 && paid === 0;
    if (nothing && bets.some(isOpen)) throw new Refused(20001);
    if (nothing && !isClosedHere) throw new Refused(20003);
    if (!nothing && countClosings(player, product, txn.roundId) >= this.rules.historyMax) throw new Refused(40003);
    const held = settled.reduce((sum, bet) => sum + bet.held, 0);
    const moved = nothing ? 0 : this.voidMove(player, held - paid, txn);
    for (const one of [...settled, ...settlements]) {
      one.state = 'VOID';
      one.paid = 0;
    }
    for (const bet of settled) bet.held = 0;
    return this.close(player, moved, version, product, txn, 'void');
  }

  private voidMove(player: ReferencePlayer, recorded: number, txn: Of<'voidSettled'>): number {
    const moved = this.rules.voidAmounts === 'recorded' ? recorded : txn.betAmount - txn.payoutAmount;
    if (!this.rules.voidAllowNegativeBalance && moved < 0 && player.balance + moved < 0) throw new Refused(10002);
    return moved;
  }

  private cancel(player: ReferencePlayer, command: Callback, txn: Of<'cancelBets'>, version: number): Effect {
    const bet = find(player, command.productId, txn.id);
    if (bet === undefined) throw this.unknown(player, command.productId, txn);
    return this.refund(player, bet, txn.status, version);
  }

  private refund(player: ReferencePlayer, bet: Bet, state: string, version: number): Effect {
    if (bet.kind === 'tombstone') throw new Refused(20001);
    if (this.isStale(player, bet)) throw new Refused(20002);
    if (!isOpen(bet) && bet.state !== 'TIPS') {
      const entry = isReversed(bet) ? bet.entries.find((one) => one.what === 'cancel' && !one.undone) : undefined;
      if (entry !== undefined) return this.repeatIn(bet, entry);
      throw new Refused(bet.state === 'SETTLED' ? 20004 : 20003);
    }
    const moved = bet.held;
    bet.state = bet.kind === 'tip' ? 'REFUND' : state;
    bet.held = 0;
    bet.returned = moved;
    return this.move(player, moved, version, bet, { what: 'cancel', amount: moved });
  }

  private unknown(player: ReferencePlayer, product: string, txn: { id: string; roundId: string }): Refused {
    if (tombstones(player) >= this.rules.tombstonesMax) return new Refused(50001);
    return new Refused(20001, (kept) => {
      kept.bets.push(newBet(product, txn.id, txn.roundId, 'tombstone', 'REFUND', 0));
    });
  }

  private cancelRound(
    player: ReferencePlayer,
    command: Callback,
    txn: Of<'cancelBets'>,
    version: number,
    isClosedHere: boolean,
  ): Effect {
    const product = command.productId;
    if (this.isStaleInRound(player, product, txn.roundId)) throw new Refused(20002);
    const closing = closingOf(player, product, txn.roundId, 'cancel', txn.id);
    if (closing !== undefined) {
      return repeatOf(closing, closing.request === this.request ? undefined : txn.roundId);
    }
    const bets = betsOf(player, product, txn.roundId);
    const mark = player.marks.find((one) => one.product === product && one.round === txn.roundId);
    const at = command.timestampMillis;
    const setMark = (kept: ReferencePlayer) => {
      const standing = kept.marks.find((one) => one.product === product && one.round === txn.roundId);
      if (standing === undefined) kept.marks.push({ product, round: txn.roundId, at, counted: bets.length === 0 });
      else standing.at = Math.max(standing.at, at);
    };
    const later = mark === undefined || at > mark.at;
    if (bets.length === 0) {
      if (mark === undefined && tombstones(player) >= this.rules.tombstonesMax) throw new Refused(50001);
      throw new Refused(20001, later ? setMark : undefined);
    }
    const open = bets.filter(isOpen);
    if (open.length === 0 && !isClosedHere) {
      if (bets.some((bet) => bet.state === 'SETTLED')) throw new Refused(20004);
      throw new Refused(20003, later ? setMark : undefined);
    }
    const isFull = countClosings(player, product, txn.roundId) >= this.rules.historyMax;
    if (open.length > 0 && isFull) throw new Refused(40003);
    const moved = open.reduce((sum, bet) => sum + bet.held, 0);
    for (const bet of open) {
      bet.state = txn.status;
      bet.returned = bet.held;
      bet.held = 0;
    }
    setMark(player);
    return this.close(player, moved, version, product, txn, 'cancel');
  }

  private tip(
    player: ReferencePlayer,
    command: Callback,
    txn: Of<'cancelTips'>,
    version: number,
    nowMs: number,
  ): Effect {
    const bet = find(player, command.productId, txn.id);
    if (bet !== undefined) return this.refund(player, bet, 'REFUND', version);
    if (this.rules.tipsUnknown === 'reject') throw this.unknown(player, command.productId, txn);
    const day = Math.floor(nowMs / 86_400_000);
    if (player.tipDays.filter((one) => one === day).length >= this.rules.tipsUnknownMax) throw new Refused(40003);
    player.tipDays.push(day);
    const tip = newBet(command.productId, txn.id, txn.roundId, 'tip', 'REFUND', txn.betAmount);
    tip.paid = txn.betAmount;
    player.bets.push(tip);
    return this.move(player, txn.betAmount, version, tip, { what: 'cancel', amount: txn.betAmount });
  }

  private rollback(player: ReferencePlayer, command: Callback, txn: Of<'rollback'>, version: number): Effect {
    const bet = find(player, command.productId, txn.id);
    if (bet === undefined) throw new Refused(20001);
    const rollbacks = bet.entries.filter((one) => one.what === 'rollback');
    const first = rollbacks.find((one) => !one.ofRound && one.request === command.id);
    const asked = bet.asked.find((one) => one.request === command.id)?.entry;
    if (first !== undefined || asked !== undefined) return repeatOf((first ?? asked) as Entry);
    const isFull = countRollbacks(bet) >= this.rules.historyMax;
    if (isOpen(bet) || bet.state === 'TIPS') {
      const newest = rollbacks.at(-1);
      if (newest === undefined) throw new Refused(20001);
      if (isFull) throw new Refused(20002);
      bet.asked.push({ request: command.id, entry: newest });
      return { ...repeatOf(newest), remembered: true };
    }
    const isCredited = bet.kind === 'tip' && bet.entries.every((one) => one.what !== 'place');
    if (isCredited) throw new Refused(20001);
    if (bet.kind === 'tombstone' || bet.state === 'VOID' || bet.state === 'REJECT') throw new Refused(20003);
    if (isFull) throw new Refused(40003);
    const { product, round, state } = bet;
    let moved = state === 'SETTLED' ? bet.paid : bet.returned;
    const parts: [Settlement, number][] = [];
    if (bet.settledByRound) {
      const others = betsOf(player, product, round).some((other) => other !== bet && other.state === 'SETTLED');
      for (const settlement of settlementsOf(player, product, round)) {
        const part = others ? Math.min(settlement.paid, txn.payoutAmount - moved) : settlement.paid;
        parts.push([settlement, part]);
        moved += part;
      }
    }
    this.refuseDebt(player, moved, txn.skipBalanceUpdate);
    for (const [settlement, part] of parts) settlement.paid -= part;
    this.reopen(bet, txn.skipBalanceUpdate);
    if (bet.kind === 'tip') {
      return this.move(player, txn.skipBalanceUpdate ? 0 : -moved, version, bet, { what: 'rollback', amount: moved });
    }
    if (state === 'SETTLED') forgetSettlements(player, product, round);
    forgetCancels(player, product, round);
    player.endedRounds = player.endedRounds.filter((one) => one !== key(product, round));
    return this.move(player, txn.skipBalanceUpdate ? 0 : -moved, version, bet, { what: 'rollback', amount: moved });
  }

  private rollbackRound(
    player: ReferencePlayer,
    command: Callback,
    txn: Of<'rollback'>,
    version: number,
    hasBegun: boolean,
  ): Effect {
    const product = command.productId;
    const round = txn.roundId;
    const bets = betsOf(player, product, round);
    if (bets.length === 0) throw new Refused(20001);
    const first = player.rollbacks.find(
      (one) => one.product === product && one.round === round && one.request === command.id,
    );
    if (first !== undefined) return repeatOf(first.entry);
    const settlements = settlementsOf(player, product, round);
    const settled = bets.filter((bet) => bet.state === 'SETTLED');
    const paid = [...settled, ...settlements].reduce((sum, one) => sum + one.paid, 0);
    const refunded = bets.filter((bet) => bet.state === 'REFUND');
    const open = bets.filter(isOpen);
    // If one array made several entries, they share a version: take the entry of the oldest bet, which the stable sort
    // keeps first.
    const newestOf = (entries: Entry[]) => entries.sort((a, b) => b.version - a.version).at(0);
    const rollbacks = open.flatMap((bet) => newestOf(bet.entries.filter((one) => one.what === 'rollback')) ?? []);
    let opened = settled;
    let moved = paid;
    const isFull = countClosings(player, product, round) >= this.rules.historyMax;
    if (settled.length === 0 && paid === 0) {
      // If a rollback of the round has reopened one of its bets, leave the bets unchanged that this rollback did not
      // reopen.
      const ofRound = player.rollbacks.filter((one) => one.product === product && one.round === round);
      const isOfRound = (one: Entry) => ofRound.some(({ entry }) => entry.version === one.version);
      const newest = newestOf(rollbacks.filter(isOfRound));
      const cancelledSince = (bet: Bet) =>
        bet.entries.some((one) => one.what === 'cancel' && one.version > (newest?.version ?? 0));
      opened = newest === undefined ? refunded : refunded.filter(cancelledSince);
      // If an earlier element of this array named a bet of the round whose result was rolled back, this element is
      // about results as well, not about refunds.
      if (hasBegun) opened = [];
      moved = opened.reduce((sum, bet) => sum + bet.returned, 0);
      if (opened.length === 0) {
        const repeated = newestOf(rollbacks);
        if (repeated === undefined) throw new Refused(open.length > 0 ? 20001 : 20003);
        if (isFull) throw new Refused(20002);
        if (repeated.version < version) {
          player.rollbacks.push({ product, round, request: command.id, entry: repeated });
          return { ...repeatOf(repeated), remembered: true };
        }
      }
    }
    if (isFull) throw new Refused(40003);
    this.refuseDebt(player, moved, txn.skipBalanceUpdate);
    const isOfRefunds = opened[0]?.state === 'REFUND';
    for (const bet of opened) this.reopen(bet, txn.skipBalanceUpdate);
    if (isOfRefunds) {
      for (const mark of player.marks.filter((one) => one.product === product && one.round === round)) mark.at = -1;
    } else {
      for (const settlement of settlements) settlement.paid = 0;
      forgetSettlements(player, product, round);
    }
    forgetCancels(player, product, round);
    player.endedRounds = player.endedRounds.filter((one) => one !== key(product, round));
    const entries: Entry[] = [];
    const message = { what: 'rollback' as const, amount: moved, ofRound: true };
    const effect = this.move(player, txn.skipBalanceUpdate ? 0 : -moved, version, { entries }, message);
    const entry = entries[0] as Entry;
    for (const bet of opened) bet.entries.push(entry);
    player.rollbacks.push({ product, round, request: command.id, entry });
    return effect;
  }

  private refuseDebt(player: ReferencePlayer, taken: number, skip: boolean): void {
    if (skip || taken === 0 || this.rules.rollbackAllowNegativeBalance) return;
    if (player.balance - taken < 0) throw new Refused(10002);
  }

  private reopen(bet: Bet, skip: boolean): void {
    bet.openedFrom = bet.state;
    if (bet.state === 'SETTLED') {
      bet.paid = 0;
      bet.paidOut = false;
      bet.settledByRound = false;
      bet.singly = false;
    } else if (skip) {
      bet.taken = false;
    } else {
      bet.held = bet.returned;
    }
    bet.returned = 0;
    bet.state = bet.opened || bet.single ? 'OPEN' : 'WAITING';
    if (bet.kind === 'tip') bet.state = 'TIPS';
    const isUndone = ({ what }: Entry) => what === 'settle' || what === 'cancel';
    bet.entries = bet.entries.map((entry) => (isUndone(entry) ? { ...entry, undone: true } : entry));
  }

  /**
   * True if a rollback has already undone the effect of the current request on this bet. A bet that was never rolled
   * back has no undone effect.
   */
  private isStale(player: ReferencePlayer, bet: Bet): boolean {
    if (!bet.entries.some((one) => one.what === 'rollback')) return false;
    return this.isUndone(player, [bet], bet.product, bet.round);
  }

  private isStaleInRound(player: ReferencePlayer, product: string, round: string): boolean {
    return this.isUndone(player, betsOf(player, product, round), product, round);
  }

  private isUndone(player: ReferencePlayer, bets: Bet[], product: string, round: string): boolean {
    const sentOf = (bet: Bet) => bet.entries.findLast((one) => one.what === 'rollback')?.sent ?? 0;
    const entries = bets.flatMap((bet) => bet.entries);
    const ofRound = player.undone.filter((one) => one.product === product && one.round === round);
    const isOfRequest = [...entries.filter((one) => one.undone), ...ofRound].some(
      (one) => one.request === this.request,
    );
    if (this.rules.rollbackStale === 'request') return isOfRequest;
    if (isOfRequest && bets.some((bet) => this.sent <= sentOf(bet))) return true;
    return this.rules.rollbackStale === 'time' && bets.some((bet) => this.sent < sentOf(bet));
  }

  private placeTip(
    player: ReferencePlayer,
    command: Callback,
    txn: Of<'placeTips'>,
    version: number,
    nowMs: number,
  ): Effect {
    const item = find(player, command.productId, txn.id);
    const skip = txn.skipBalanceUpdate;
    const takes = item?.state === 'TIPS' && !item.taken && !skip;
    if (item?.kind === 'tip') {
      const own = this.ownPlacing(item, txn.betAmount, '', skip);
      const entry = own ?? (takes ? undefined : alike(item, 'place', txn.betAmount, '', skip));
      if (entry !== undefined && item.state === 'REFUND') throw new Refused(20003);
      if (entry !== undefined) return repeatOf(entry, own === undefined ? item.round : undefined);
    }
    this.refuseStranger(player, command, nowMs);
    if (item !== undefined && isReversed(item)) throw new Refused(20003);
    if (item !== undefined && (!takes || item.stake !== txn.betAmount)) throw new Refused(20002);
    if (!skip && txn.betAmount > 0 && player.balance < txn.betAmount) throw new Refused(10002);
    const tip = item ?? newBet(command.productId, txn.id, txn.roundId, 'tip', 'TIPS', txn.betAmount);
    if (item === undefined) player.bets.push(tip);
    tip.taken ||= !skip;
    if (!skip) tip.held = txn.betAmount;
    return this.move(player, -tip.held, version, tip, { what: 'place', amount: txn.betAmount, skip });
  }

  private reward(player: ReferencePlayer, command: Callback, txn: Of<'winRewards'>, version: number): Effect {
    const { productId: product } = command;
    const known = player.rewards.find((one) => one.product === product && one.id === txn.id);
    if (known !== undefined) {
      if (known.state === 'VOID') throw new Refused(20003);
      if (known.payout !== txn.payoutAmount) throw new Refused(20002);
      return repeatOf(known.entries[0] as Entry);
    }
    if (txn.isTooMuch) throw new Refused(40003);
    const payout = txn.payoutAmount;
    const reward = { product, id: txn.id, round: txn.roundId, payout, state: 'SETTLED', paid: payout, entries: [] };
    player.rewards.push(reward);
    return this.move(player, txn.payoutAmount, version, reward, { what: 'settle', amount: txn.payoutAmount });
  }

  private movement(player: ReferencePlayer, command: Callback, txn: Of<'adjustBalance'>, version: number): Effect {
    const { productId: product } = command;
    const { id: ref, status, amount } = txn;
    const isKnown = (one: Movement) => one.product === product && one.ref === ref && one.status === status;
    const known = player.movements.find(isKnown);
    const [entry] = known?.entries ?? [];
    if (entry !== undefined && entry.amount === amount) return repeatOf(entry);
    if (status === 'DEBIT') this.refuseOpening(player, product);
    if (known !== undefined) throw new Refused(20002);
    if (status === 'DEBIT' && amount > 0 && player.balance < amount) throw new Refused(10002);
    if (status === 'CREDIT' && txn.isTooMuch) throw new Refused(40003);
    const movement = { product, ref, status, entries: [] };
    player.movements.push(movement);
    const moved = status === 'DEBIT' ? -amount : amount;
    return this.move(player, moved, version, movement, { what: 'place', amount });
  }

  /** The entry made by this same message, even if a rollback has since given its stake back. */
  private ownPlacing(item: Bet, amount: number, status: string, skip: boolean): Entry | undefined {
    const own = item.entries.findLast((one) => {
      const isSame = one.amount === amount && one.status === status && one.skip === skip;
      return one.what === 'place' && one.request === this.request && isSame;
    });
    const rollback = item.entries.findLast((one) => one.what === 'rollback');
    if (own === undefined || rollback === undefined || this.rules.rollbackStale === 'request') return own;
    return own.version < rollback.version && this.sent > rollback.sent ? undefined : own;
  }

  /** The effect of a repeated settle or cancel. The round must remember the repeat if its request is new. */
  private repeatIn(item: { round: string; entries: Entry[] }, entry: Entry): Effect {
    const isOwn = ({ what, request }: Entry) => (what === 'settle' || what === 'cancel') && request === this.request;
    return repeatOf(entry, item.entries.some(isOwn) ? undefined : item.round);
  }

  /** The message as text. The text includes the time if a request id may be reused. */
  private messageOf(command: Callback): string {
    return messageText(command, this.rules.rollbackStale === 'request' ? undefined : command.timestampMillis);
  }

  private refuseOpening(player: ReferencePlayer, product: string): void {
    const listed = this.rules.products.get(product);
    if (player.blocked || listed?.blocked === true) throw new Refused(40003);
    if (listed === undefined && this.rules.productsUnlisted === 'reject') throw new Refused(40003);
  }

  private refuseStranger(player: ReferencePlayer, command: Callback, nowMs: number): void {
    this.refuseOpening(player, command.productId);
    const { session } = command as Extract<Callback, { type: 'placeBets' }>;
    if (!this.letsIn(player, session, nowMs)) throw new Refused(30001);
  }

  private letsIn({ session }: ReferencePlayer, given: string | undefined, nowMs: number): boolean {
    if (this.rules.sessionToken === 'ignore') return true;
    return session !== undefined && session.digest === given && (session.endMs === null || nowMs < session.endMs);
  }

  private move(
    player: ReferencePlayer,
    moved: number,
    version: number,
    on: { entries: Entry[] },
    message: Partial<Entry> & Pick<Entry, 'what' | 'amount'>,
  ): Effect {
    const before = player.balance;
    const after = before + moved;
    if (!Number.isSafeInteger(after)) throw new Refused(40003);
    player.balance = after;
    const { sent } = this;
    const { what, amount, status = '', skip = false, ofRound = false, request = this.request } = message;
    on.entries.push({ what, amount, status, skip, request, sent, ofRound, undone: false, before, after, version });
    return { repeat: false, before, after, version };
  }

  private close(
    player: ReferencePlayer,
    moved: number,
    version: number,
    product: string,
    txn: { id: string; roundId: string },
    what: 'void' | 'cancel',
  ): Effect {
    const before = player.balance;
    const after = before + moved;
    if (!Number.isSafeInteger(after)) throw new Refused(40003);
    player.balance = after;
    const { request } = this;
    player.closings.push({ product, round: txn.roundId, id: txn.id, what, request, before, after, version });
    return { repeat: false, before, after, version };
  }
}

export function newPlayer(currency: string, balance: number): ReferencePlayer {
  return {
    currency,
    balance,
    version: 1,
    blocked: false,
    session: undefined,
    bets: [],
    settlements: [],
    closings: [],
    rewards: [],
    movements: [],
    marks: [],
    endedRounds: [],
    rollbacks: [],
    undone: [],
    remembered: [],
    tipDays: [],
    operations: [{ id: 'fund', what: 'import', before: 0, after: balance }],
  };
}

/** The player after a failed request, including its side effects. */
function withResidue(player: ReferencePlayer, { residue }: Refused, version: number): ReferencePlayer {
  if (residue === undefined) return player;
  const kept = copyOf(player);
  residue(kept);
  kept.version = version;
  return kept;
}

/** Both copies share the entries, because entries never change. */
function copyOf(player: ReferencePlayer): ReferencePlayer {
  return {
    ...player,
    bets: player.bets.map((bet) => ({ ...bet, asked: [...bet.asked], entries: [...bet.entries] })),
    settlements: player.settlements.map((one) => ({ ...one, betIds: [...one.betIds], entries: [...one.entries] })),
    closings: [...player.closings],
    rewards: player.rewards.map((one) => ({ ...one, entries: [...one.entries] })),
    movements: player.movements.map((one) => ({ ...one, entries: [...one.entries] })),
    marks: player.marks.map((mark) => ({ ...mark })),
    endedRounds: [...player.endedRounds],
    rollbacks: [...player.rollbacks],
    undone: [...player.undone],
    remembered: [...player.remembered],
    tipDays: [...player.tipDays],
    operations: [...player.operations],
  };
}

function newBet(product: string, id: string, round: string, kind: Bet['kind'], state: string, stake: number): Bet {
  const amounts = { held: 0, paid: 0, returned: 0 };
  const facts = { opened: false, taken: false, paidOut: false, single: false, settledByRound: false, singly: false };
  return { product, id, round, kind, state, stake, ...amounts, ...facts, openedFrom: '', asked: [], entries: [] };
}

/** A round, or one bet of it, that an element of an array has closed. */
interface Closed {
  round: string;
  whole: boolean;
  repeat: boolean;
}

function closedBy(player: ReferencePlayer, command: Callback, txn: Txn, { repeat }: Effect): Closed[] {
  if (command.type !== 'cancelBets' && command.type !== 'voidSettled' && command.type !== 'rollback') return [];
  const { id, roundId, byRound } = txn as Of<'cancelBets'> | Of<'voidSettled'> | Of<'rollback'>;
  if (byRound) return [{ round: roundId, whole: true, repeat }];
  const item = find(player, command.productId, id);
  if (command.type === 'rollback' && item?.openedFrom !== 'SETTLED') return [];
  // A tip or a reward closes nothing, because it does not belong to a round.
  return item?.kind === 'bet' ? [{ round: item.round, whole: false, repeat }] : [];
}

/**
 * True if the bet was closed together with its complete round by an element of this array. The bet then needs no cancel
 * or void of its own.
 */
function isClosedWithRound(player: ReferencePlayer, command: Callback, txn: Txn, closed: readonly Closed[]) {
  if (command.type !== 'cancelBets' && command.type !== 'voidSettled') return false;
  const bet = find(player, command.productId, txn.id);
  if ((txn as Of<'cancelBets'> | Of<'voidSettled'>).byRound || bet?.kind !== 'bet') return false;
  if ((command.type === 'voidSettled') !== (bet.state === 'VOID')) return false;
  return closed.some((one) => one.whole && one.round === bet.round);
}

function find(player: ReferencePlayer, product: string, id: string): Bet | undefined {
  return player.bets.find((bet) => bet.product === product && bet.id === id);
}

function betsOf(player: ReferencePlayer, product: string, round: string): Bet[] {
  return player.bets.filter((bet) => bet.kind === 'bet' && bet.product === product && bet.round === round);
}

function settlementsOf(player: ReferencePlayer, product: string, round: string): Settlement[] {
  return player.settlements.filter((one) => one.product === product && one.round === round);
}

function closingOf(player: ReferencePlayer, product: string, round: string, what: string, id: string) {
  const of = (one: Closing) => one.product === product && one.round === round && one.what === what && one.id === id;
  return player.closings.find(of);
}

function countRollbacks(bet: Bet): number {
  return bet.entries.filter((one) => one.what === 'rollback').length + bet.asked.length;
}

function countClosings(player: ReferencePlayer, product: string, round: string): number {
  const all = [...player.closings, ...player.rollbacks, ...player.undone];
  return all.filter((one) => one.product === product && one.round === round).length;
}

/** If no bet of the round is settled any more, removes settlements that pay nothing, as if they had never happened. */
function forgetSettlements(player: ReferencePlayer, product: string, round: string): void {
  if (betsOf(player, product, round).some((bet) => bet.state === 'SETTLED')) return;
  for (const settlement of settlementsOf(player, product, round)) {
    if (settlement.state === 'VOID' || settlement.paid > 0) continue;
    player.settlements.splice(player.settlements.indexOf(settlement), 1);
    for (const { request } of settlement.entries) player.undone.push({ product, round, request });
  }
}

function forgetCancels(player: ReferencePlayer, product: string, round: string): void {
  const isOf = (one: Closing) => one.product === product && one.round === round && one.what === 'cancel';
  for (const { request } of player.closings.filter(isOf)) player.undone.push({ product, round, request });
  player.closings = player.closings.filter((one) => !isOf(one));
}

function isOpen(bet: { state: string }): boolean {
  return bet.state === 'OPEN' || bet.state === 'WAITING';
}

function isReversed(bet: { state: string }): boolean {
  return bet.state === 'REFUND' || bet.state === 'REJECT' || bet.state === 'VOID';
}

function key(product: string, round: string): string {
  return JSON.stringify([product, round]);
}

/** True if the complete round was cancelled and the platform sent this message no later than the cancel. */
function isMarked(player: ReferencePlayer, command: Callback, round: string): boolean {
  const mark = player.marks.find((one) => one.product === command.productId && one.round === round);
  return mark !== undefined && command.timestampMillis <= mark.at;
}

function isEnded(player: ReferencePlayer, product: string, round: string): boolean {
  return player.endedRounds.includes(key(product, round));
}

function tombstones(player: ReferencePlayer): number {
  const marks = player.marks.filter((mark) => mark.counted).length;
  return player.bets.filter((bet) => bet.kind === 'tombstone').length + marks;
}

/** The entry of a similar message: one with the same status and skip if it exists, otherwise the newest. */
function alike(
  on: { entries: Entry[] },
  what: string,
  amount: number,
  status: string,
  skip: boolean,
): Entry | undefined {
  const entries = on.entries.filter((entry) => entry.what === what && entry.amount === amount && !entry.undone);
  const same = entries.findLast((entry) => entry.status === status && entry.skip === skip);
  const newest = entries.at(-1);
  return same ?? (newest && { ...newest, standsFor: newest });
}

function repeatOf(
  entry: { before: number; after: number; version: number; standsFor?: Entry },
  home: string | undefined = undefined,
): Effect {
  const { before, after, version, standsFor } = entry;
  const effect = { repeat: true, before, after, version, source: standsFor ?? entry, isOther: standsFor !== undefined };
  return home === undefined ? effect : { ...effect, home };
}

/** A round that remembers this many messages refuses further messages that have no effect. */
const REMEMBERED_MAX = 100;

/** The text by which messages are compared, without irrelevant fields. */
function messageText({ type, id, txns }: Callback, sent: number | undefined): string {
  const elements = (txns as readonly unknown[] as readonly Record<string, unknown>[]).map((txn) => [
    ...[txn.id, txn.roundId, txn.status, txn.betAmount, txn.payoutAmount, txn.amount],
    ...[txn.byRound, txn.skipBalanceUpdate, txn.isSingleState, txn.isEndRound],
  ]);
  return JSON.stringify([type, id, sent, elements]);
}

function meansRound(txn: Txn): boolean {
  const { byRound = false, isSingleState = false } = txn as Partial<Of<'settleBets'>>;
  return byRound && !isSingleState;
}

/** Rounds that an element names: those of the transactions with its id, and its own. */
function roundsOf(player: ReferencePlayer, { type, productId }: Callback, txn: Txn): string[] {
  if (meansRound(txn)) return [txn.roundId];
  const isIt = (one: { product: string; id: string }) => one.product === productId && one.id === txn.id;
  const bets = type === 'winRewards' || type === 'adjustBalance' ? [] : player.bets.filter(isIt);
  const rewards = type === 'winRewards' || type === 'voidSettled' ? player.rewards.filter(isIt) : [];
  return [...bets.map(({ round }) => round), ...rewards.map(({ round }) => round), txn.roundId];
}

function isNamed(player: ReferencePlayer, command: Callback, round: string): boolean {
  return command.txns.some((txn) => roundsOf(player, command, txn).includes(round));
}

/** Round that must remember the message; undefined if the message can be derived from its effects. */
function homeOf(player: ReferencePlayer, command: Callback, effects: readonly Effect[], idle: number) {
  const [first] = command.txns as readonly Txn[];
  if (first === undefined || command.txns.length === 1) return effects[0]?.home;
  const isDistinct = new Set(command.txns.map(({ id }) => id)).size === command.txns.length;
  const isOwn = ({ repeat, home, remembered }: Effect) => repeat && home === undefined && remembered !== true;
  const areSame = effects.every(({ repeat }) => !repeat) || effects.every(isOwn);
  if (idle === 0 && isDistinct && areSame && !command.txns.some(meansRound)) return undefined;
  return roundsOf(player, command, first)[0];
}

/**
 * True if the message names a bet that a rollback has reopened, so that an earlier settle or cancel of the bet no
 * longer counts.
 */
function namesReopened(player: ReferencePlayer, command: Callback): boolean {
  const { productId: product } = command;
  const isReopened = (bet: Bet) => {
    return (isOpen(bet) || bet.state === 'TIPS') && bet.entries.some(({ what }) => what === 'rollback');
  };
  return (command.txns as readonly Txn[]).some((txn) => {
    if (meansRound(txn)) return betsOf(player, product, txn.roundId).some(isReopened);
    const bet = find(player, product, txn.id);
    return bet !== undefined && isReopened(bet);
  });
}
