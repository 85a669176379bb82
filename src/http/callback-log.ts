import type { Logger } from '../base/logger.js';
import type { CallbackAnswer } from '../callback/callback-codec.js';
import { CALLBACKS } from '../callback/callbacks.js';
import { FAILURES, type StatusCodes } from '../callback/failures.js';
import { describeRefusal } from '../callback/refusal.js';
import type { ReadRequest } from '../callback/request-codec.js';
import { formatUnits, type ScaleTable, type Units } from '../wallet/amount.js';
import type { CallbackCommand, Endpoint } from '../wallet/command.js';

/** Selects the answers to log: none, those with a nonzero statusCode, slow ones, or all. */
export type CallbackLogging = 'none' | 'errors' | 'slow' | 'all';

export interface CallbackLogSettings {
  readonly callbacks: CallbackLogging;
  readonly slowMs: number;
}

/** Maximum number of array elements that are logged. */
const TXNS_MAX = 20;

/** Logs one line per callback, if the settings require it. Logging takes longer than deciding a callback. */
export class CallbackLog {
  /** Settings that may change while callbacks arrive. */
  settings: CallbackLogSettings;

  constructor(
    settings: CallbackLogSettings,
    private readonly log: Logger,
    private readonly scales: ScaleTable,
    private readonly codes: StatusCodes,
  ) {
    this.settings = settings;
  }

  wants(isFailure: boolean, tookMs: number): boolean {
    const { callbacks, slowMs } = this.settings;
    switch (callbacks) {
      case 'none':
        return false;
      case 'errors':
        return isFailure;
      case 'slow':
        return tookMs >= slowMs;
      case 'all':
        return true;
    }
  }

  /** `traceId` is the ID of the caller's trace, if the caller sent one. */
  write(
    endpoint: Endpoint,
    request: ReadRequest,
    answer: CallbackAnswer,
    tookMs: number,
    traceId: string | undefined,
  ): void {
    const { id: requestId, username, productId, currency, command, refusal } = request;
    this.log.info(
      {
        endpoint,
        requestId,
        ...(traceId !== undefined && { trace_id: traceId }),
        username,
        productId,
        currency,
        ...this.result(endpoint, answer, currency),
        ...(refusal !== undefined && { reason: describeRefusal(refusal) }),
        ...(command !== undefined && 'txns' in command && { txns: this.txns(command), txnCount: command.txns.length }),
        tookMs: Math.round(tookMs * 1000) / 1000,
      },
      'callback',
    );
  }

  private result(endpoint: Endpoint, answer: CallbackAnswer, currency: string): object {
    if (answer.type === 'failed') {
      const { httpStatus } = FAILURES[answer.failure];
      return { statusCode: this.codes[answer.failure], httpStatus, result: answer.failure };
    }
    const { before, after, isRepeat } = answer;
    if (CALLBACKS[endpoint].answer === 'balance') {
      return { statusCode: 0, httpStatus: 200, result: 'accepted', balance: this.amount(after, currency) };
    }
    const balanceBefore = this.amount(before, currency);
    const balanceAfter = this.amount(after, currency);
    return { statusCode: 0, httpStatus: 200, result: 'accepted', isRepeat, balanceBefore, balanceAfter };
  }

  private txns(command: CallbackCommand): object[] {
    return command.txns.slice(0, TXNS_MAX).map((txn) => {
      const { id, roundId } = txn;
      const amount = (units: Units) => this.amount(units, command.currency);
      if ('amount' in txn) return { refId: id, status: txn.status, amount: amount(txn.amount) };
      const payout = 'payoutAmount' in txn && { payoutAmount: amount(txn.payoutAmount as Units) };
      return { id, roundId, betAmount: amount(txn.betAmount), ...payout };
    });
  }

  private amount(units: Units, currency: string): string {
    return formatUnits(units, this.scales.of(currency));
  }
}
