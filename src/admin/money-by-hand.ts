import { dayOf, startOfDay } from '../base/time.js';
import { formatSum, formatUnits, type Units } from '../wallet/amount.js';
import type { Answer } from '../wallet/decision.js';
import { type BrokenLimit, HandLimits } from '../wallet/hand-limits.js';
import type { Failure } from '../wallet/rejection.js';
import type { AdminDeps, SignedCommand } from './admin-deps.js';
import { approvalId } from './approval-id.js';
import { HandAccount, type HandOutcome, sizeOf } from './hand-account.js';
import { findOperation, type KnownOperation, scanOperations } from './known-operations.js';
import { Problem } from './problem.js';

/** In a cluster, other nodes move money as well. Their operations are reloaded at this interval. */
const OTHERS_MS = 60_000;
const SETTING = 'money.byHand';
/** Failures after which the money may nevertheless have moved. */
const UNCERTAIN: readonly Failure[] = ['unsure', 'not-durable-in-time'];

function outcomeOf(answer: Answer): HandOutcome {
  if (answer.type === 'accepted') return answer.isRepeat ? 'nothing' : 'moved';
  // An operation that waits for approval counts toward the per-minute limit at once. Its money counts only when it
  // moves.
  if (answer.failure === 'approval-pending') return 'asked';
  return UNCERTAIN.includes(answer.failure) ? 'moved' : 'nothing';
}

/** A command that moves money, with its amount. */
export interface HandMovement {
  readonly command: Extract<SignedCommand, { readonly id: string }>;
  readonly currency: string;
  readonly amount: Units;
}

type ApproveCommand = Extract<SignedCommand, { readonly type: 'approve-request' | 'refuse-request' }>;

interface Loaded {
  readonly account: HandAccount;
  ready: Promise<void>;
  readMs: number;
}

/** Executes money movements while their operator stays within the limits. */
export class MoneyByHand {
  private readonly limits: HandLimits;
  private readonly accounts = new Map<string, Loaded>();

  constructor(private readonly deps: Pick<AdminDeps, 'settings' | 'service' | 'cluster' | 'clock' | 'observer'>) {
    this.limits = new HandLimits(deps.settings.handMaxima, deps.settings.scales);
  }

  /**
   * Throws a `Problem` if the movement exceeds a limit. A repeat moves nothing, so it gets its first answer even beyond
   * all limits. If `isCounted` is false, as for import lines, the movement does not count toward the per-minute limit.
   */
  async move({ command, currency, amount }: HandMovement, isCounted = true): Promise<Answer> {
    const { service, clock } = this.deps;
    const account = await this.accountOf(command.by.name);
    const nowMs = clock.monotonicMs();
    const broken = this.limits.findBroken(currency, amount, account.use(currency, nowMs), isCounted);
    if (broken !== undefined) {
      if ((await findOperation(service, command.username, command.id)) === undefined) {
        this.deps.observer.limited(broken.limit);
        throw this.problemOf(broken, command.by.name, currency, amount);
      }
      return await service.operate(command);
    }
    const time = isCounted ? nowMs : undefined;
    account.begin(currency, amount, time);
    let outcome: HandOutcome = 'moved';
    try {
      const answer = await service.operate(command);
      outcome = outcomeOf(answer);
      return answer;
    } finally {
      account.end(currency, amount, time, outcome);
    }
  }

  /**
   * Approves another operator's request. If its money moved or may have moved, counts it once toward the requester's
   * daily total, even beyond the daily limit.
   */
  async approve(command: ApproveCommand, asked: KnownOperation): Promise<Answer> {
    let outcome: HandOutcome = 'moved';
    try {
      const answer = await this.deps.service.operate(command);
      outcome = outcomeOf(answer);
      return answer;
    } finally {
      if (outcome === 'moved' && asked.type === 'request') this.noteApproved(command, asked);
    }
  }

  private noteApproved({ username, id }: ApproveCommand, { by, currency, amount = 0 }: KnownOperation): void {
    const account = by && this.accounts.get(by.name)?.account;
    // If the account is loaded later, the load will find this operation in the wallet.
    if (account?.day !== dayOf(this.deps.clock.now())) return;
    account.noteApproved(approvalId(username, id), currency, amount);
  }

  private async accountOf(name: string): Promise<HandAccount> {
    const { clock, cluster } = this.deps;
    const day = dayOf(clock.now());
    let loaded = this.accounts.get(name);
    const isOld = () => cluster !== undefined && clock.monotonicMs() - (loaded?.readMs ?? 0) > OTHERS_MS;
    if (loaded?.account.day !== day) {
      const account = new HandAccount(day);
      loaded = { account, ready: this.load(account, name), readMs: clock.monotonicMs() };
      this.accounts.set(name, loaded);
    } else if (isOld()) {
      loaded.ready = this.load(loaded.account, name);
      loaded.readMs = clock.monotonicMs();
    }
    try {
      await loaded.ready;
    } catch (error) {
      // On failure, the next request loads the account again.
      if (this.accounts.get(name) === loaded) this.accounts.delete(name);
      throw error;
    }
    return loaded.account;
  }

  private async load(account: HandAccount, name: string): Promise<void> {
    if (!this.limits.hasDays) return;
    const fromMs = startOfDay(this.deps.clock.now());
    const wanted = { by: name, type: undefined, username: undefined, fromMs, beforeMs: Number.MAX_SAFE_INTEGER };
    await account.load(async () => {
      const sums = new Map<string, bigint>();
      for await (const items of scanOperations(this.deps.service, wanted)) {
        for (const { currency, operation } of items) {
          const { before = 0, after = 0 } = operation;
          sums.set(currency, (sums.get(currency) ?? 0n) + sizeOf(after - before));
        }
      }
      return sums;
    });
  }

  private problemOf({ limit, max, left }: BrokenLimit, name: string, currency: string, amount: Units): Problem {
    const scale = this.deps.settings.scales.of(currency);
    const inCurrency = (units: bigint) => `${formatSum(units, scale)} ${currency}`;
    const asked = `this operation moves ${formatUnits(Math.abs(amount), scale)} ${currency}`;
    switch (limit) {
      case 'amount':
        return new Problem(
          403,
          `${name} may move ${inCurrency(max)} by hand in one operation (${SETTING}.amountMaxima), and ${asked}`,
          'hand-amount-limit',
        );
      case 'day':
        return new Problem(
          403,
          `${name} may move ${inCurrency(max)} by hand in a UTC day (${SETTING}.dayMaxima), of which ${inCurrency(left)} ` +
            `are left, and ${asked}`,
          'hand-day-limit',
        );
      default:
        return new Problem(
          429,
          `${name} may move money by hand ${max} times in a minute (${SETTING}.perMinute), and 0 are left: wait`,
          'hand-minute-limit',
        );
    }
  }
}
