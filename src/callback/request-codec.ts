import { isAscii, isUtf8 } from 'node:buffer';
import { maybeUnits, type ScaleTable, type Units } from '../wallet/amount.js';
import type { CallbackCommand, Endpoint } from '../wallet/command.js';
import { isId } from '../wallet/identifier.js';
import { compileValidators, type RequestBody } from './request-schema.js';

export interface CodecSettings {
  readonly scales: ScaleTable;
  /** Largest single amount, in whole currency. */
  readonly amountMax: number;
  readonly txnsMax: number;
}

/** A request that could be read. `command` is undefined when it is not valid; what names it is there all the same. */
export interface ReadRequest {
  readonly id: string;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
  readonly command: CallbackCommand | undefined;
}

/** Makes commands of one endpoint's bodies, whose text `textOf` makes of their bytes. */
export interface RequestCodec {
  readonly endpoint: Endpoint;
  read(text: string): ReadRequest;
}

/** Of a body that nobody can read, or may. */
export const NOTHING_READ: ReadRequest = { id: '', productId: '', currency: '', username: '', command: undefined };

/** Thrown by a conversion that finds an amount which is none; caught where the request is read. */
const NOT_AN_AMOUNT = new Error('not an amount');

export function requestCodecs(settings: CodecSettings): Readonly<Record<Endpoint, RequestCodec>> {
  const validators = compileValidators(settings.txnsMax);
  const codec = <E extends Endpoint>(endpoint: E, toTxn: ToTxn<E>) =>
    new EndpointCodec(endpoint, validators[endpoint] as unknown as Validate<E>, toTxn, settings);
  return {
    placeBets: codec('placeBets', toPlaceTxn),
    settleBets: codec('settleBets', toSettleTxn),
    adjustBets: codec('adjustBets', toAdjustTxn),
    voidSettled: codec('voidSettled', toVoidTxn),
    cancelBets: codec('cancelBets', toCancelTxn),
    cancelTips: codec('cancelTips', toCancelTipTxn),
  };
}

type Txn<E extends Endpoint> = RequestBody<E>['txns'][number];
type Validate<E extends Endpoint> = (body: unknown) => body is RequestBody<E>;
type ToTxn<E extends Endpoint> = (txn: Txn<E>, money: Money) => CallbackCommand['txns'][number];

/** Money leaves the wire here and becomes units. */
interface Money {
  readonly scale: number;
  readonly amountMax: number;
}

class EndpointCodec<E extends Endpoint> implements RequestCodec {
  constructor(
    readonly endpoint: E,
    private readonly validate: Validate<E>,
    private readonly toTxn: ToTxn<E>,
    private readonly settings: CodecSettings,
  ) {}

  read(text: string): ReadRequest {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return NOTHING_READ;
    }
    if (typeof body !== 'object' || body === null) return NOTHING_READ;
    // A lone surrogate can only come as an escape, so most bodies are not searched for one.
    if (!this.validate(body) || (text.includes('\\u') && hasLoneSurrogate(body))) return invalid(body);
    try {
      const { id, productId, currency, username } = body;
      return { id, productId, currency, username, command: this.toCommand(body) };
    } catch (error) {
      if (error === NOT_AN_AMOUNT) return invalid(body);
      throw error;
    }
  }

  /** Copies into objects of one shape: parsed ones have as many shapes as there are orders of fields. */
  private toCommand(body: RequestBody<E>): CallbackCommand {
    const { id, timestampMillis, productId, currency, username } = body;
    const money = { scale: this.settings.scales.of(currency), amountMax: this.settings.amountMax };
    const txns = (body.txns as readonly Txn<E>[]).map((txn) => this.toTxn(txn, money));
    return {
      type: this.endpoint,
      id,
      timestampMillis,
      productId,
      currency,
      username,
      txns,
    } as unknown as CallbackCommand;
  }
}

/** Of bytes that are not UTF-8 an empty text: no JSON either. Most bodies are ASCII, which needs no decoding. */
export function textOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString() : '';
}

function invalid(body: object): ReadRequest {
  const { id, productId, username } = body as { id?: unknown; productId?: unknown; username?: unknown };
  const text = (value: unknown) => (isId(value) ? value : '');
  return { ...NOTHING_READ, id: text(id), productId: text(productId), username: text(username) };
}

function hasLoneSurrogate(body: RequestBody<Endpoint>): boolean {
  const { id, productId, currency, username, txns } = body;
  return [id, productId, currency, username, ...txns.flatMap(textsOf)].some((text) => !text.isWellFormed());
}

/** Where an endpoint does not know a field, it may hold anything. */
function textsOf(txn: { id: string; roundId: string; gameCode?: unknown; playInfo?: unknown }): string[] {
  return [txn.id, txn.roundId, txn.gameCode, txn.playInfo].filter((value) => typeof value === 'string');
}

function mustUnits(value: number, { scale, amountMax }: Money): Units {
  const units = maybeUnits(value, scale);
  if (units === undefined || value > amountMax) throw NOT_AN_AMOUNT;
  return units;
}

function toPlaceTxn(txn: Txn<'placeBets'>, money: Money) {
  const betAmount = mustUnits(txn.betAmount, money);
  // A bet costs something, unless it is a feature spin.
  if (betAmount === 0 && txn.isFeature !== true) throw NOT_AN_AMOUNT;
  return {
    id: txn.id,
    roundId: txn.roundId,
    status: txn.status,
    betAmount,
    isFeature: txn.isFeature === true,
    isFeatureBuy: txn.isFeatureBuy === true,
    skipBalanceUpdate: txn.skipBalanceUpdate === true,
    gameCode: txn.gameCode,
    playInfo: txn.playInfo,
  };
}

function toSettleTxn(txn: Txn<'settleBets'>, money: Money) {
  return {
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount, money),
    payoutAmount: mustUnits(txn.payoutAmount, money),
    turnOver: txn.turnOver,
    isSingleState: txn.isSingleState,
    byRound: txn.transactionType === 'BY_ROUND',
    isEndRound: txn.isEndRound === true,
    isFeature: txn.isFeature === true,
    isFeatureBuy: txn.isFeatureBuy === true,
    skipBalanceUpdate: txn.skipBalanceUpdate === true,
    gameCode: txn.gameCode,
    playInfo: txn.playInfo,
  };
}

function toAdjustTxn(txn: Txn<'adjustBets'>, money: Money) {
  return { id: txn.id, roundId: txn.roundId, betAmount: mustUnits(txn.betAmount, money) };
}

function toVoidTxn(txn: Txn<'voidSettled'>, money: Money) {
  return {
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount, money),
    payoutAmount: mustUnits(txn.payoutAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
  };
}

function toCancelTxn(txn: Txn<'cancelBets'>, money: Money) {
  return {
    id: txn.id,
    roundId: txn.roundId,
    status: txn.status,
    betAmount: mustUnits(txn.betAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
  };
}

function toCancelTipTxn(txn: Txn<'cancelTips'>, money: Money) {
  return { id: txn.id, roundId: txn.roundId, betAmount: mustUnits(txn.betAmount, money) };
}
