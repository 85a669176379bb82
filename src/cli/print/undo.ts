import { toCsv } from '../../csv/to-csv.js';
import { EXIT } from '../../node/settings/exit-codes.js';
import type { Undo } from '../../tools/inspect/undo-plan.js';
import type { Corrected } from '../../tools/verify/operator-api.js';
import { formatSum, type ScaleTable, type Units } from '../../wallet/amount.js';
import type { Outcome } from '../command.js';

import { isoTime, plural } from './format.js';
import { printable } from './printable.js';
import { formatTable } from './table.js';

/** Corrections that a search found, and the outcome of each. */
export interface UndoReport {
  readonly plan: readonly Undo[];
  readonly currencyOf: (one: Undo) => string;
  readonly scales: ScaleTable;
  /** Empty if the corrections are only shown. */
  readonly ended: ReadonlyMap<Undo, Corrected>;
}

/** Returns the corrections that still have to be written. */
export function leftOf(plan: readonly Undo[]): Undo[] {
  return plan.filter(({ doneBefore }) => doneBefore === undefined);
}

/** Sums amounts by currency. `of` is applied to each amount first. */
export function sumsOf(
  corrections: readonly Undo[],
  currencyOf: (one: Undo) => string,
  of: (amount: Units) => Units = (amount) => amount,
): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const one of corrections) {
    const currency = currencyOf(one);
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(of(one.amount)));
  }
  return sums;
}

/** Formats sums as text: `-12999 THB, -3.5 BTC`. */
export function sumsText(sums: ReadonlyMap<string, bigint>, scales: ScaleTable): string {
  return [...sums].map(([currency, sum]) => `${formatSum(sum, scales.of(currency))} ${currency}`).join(', ');
}

/** Formats a report of the corrections that would be written. */
export function undoShown(report: UndoReport, then: string): Outcome {
  const left = leftOf(report.plan);
  const sum = left.length === 0 ? 'Nothing is left to write' : `${sumOf(left, report)}; ${then}`;
  return outcomeOf(report, `${sum}.${beforeText(report)}`, EXIT.ok);
}

/** Formats a report of the corrections that were written. */
export function undoEnded(report: UndoReport): Outcome {
  const { plan, ended } = report;
  const written = plan.filter((one) => ended.get(one) === 'done');
  const pending = plan.filter((one) => ended.get(one) === 'pending');
  const refused = plan.filter((one) => typeof ended.get(one) === 'object');
  const parts = [
    written.length === 0 ? 'No correction was written' : `${sumOf(written, report)} written`,
    ...(pending.length === 0 ? [] : [`${sumOf(pending, report)} pending until another operator approves`]),
    ...(refused.length === 0 ? [] : [`${sumOf(refused, report)} refused`]),
  ];
  const exitCode = pending.length + refused.length > 0 ? EXIT.failure : EXIT.ok;
  return outcomeOf(report, `${parts.join('; ')}.${beforeText(report)}`, exitCode);
}

/**
 * Formats the report as CSV for spreadsheets, one row per credit or operation. `amount` is the amount of the movement
 * that the correction reverses.
 */
export function undoCsv(report: UndoReport): string {
  const columns = [
    'time',
    'username',
    'endpoint',
    'productId',
    'type',
    'id',
    'amount',
    'currency',
    'correction',
    'state',
  ];
  const rows = report.plan.map((one) => [
    one.timeMs === undefined ? '' : isoTime(one.timeMs),
    one.username,
    one.endpoint ?? '',
    one.productId ?? '',
    one.type,
    one.id,
    decimal(Math.abs(one.amount), one, report),
    report.currencyOf(one),
    one.undoId,
    stateOf(one, report),
  ]);
  return toCsv([columns, ...rows]);
}

function outcomeOf(report: UndoReport, sum: string, exitCode: number): Outcome {
  const { plan, currencyOf } = report;
  const rows = plan.map((one) => [
    one.timeMs === undefined ? '-' : isoTime(one.timeMs),
    printable(one.username),
    one.type,
    printable(one.productId === undefined ? one.id : `${one.productId} ${one.id}`),
    `${decimal(one.amount, one, report)} ${currencyOf(one)}`,
    printable(stateOf(one, report)),
  ]);
  const columns = ['time', 'player', 'what', 'id', { right: 'correction' }, ''];
  return {
    text: () => `${formatTable(columns, rows)}\n\n${sum}`,
    json: () =>
      plan.map((one) => ({
        username: one.username,
        type: one.type,
        ...(one.productId === undefined ? {} : { productId: one.productId }),
        id: one.id,
        time: one.timeMs === undefined ? null : isoTime(one.timeMs),
        correction: { id: one.undoId, amount: decimal(one.amount, one, report), currency: currencyOf(one) },
        state: stateOf(one, report),
      })),
    exitCode,
  };
}

function sumOf(corrections: readonly Undo[], { currencyOf, scales }: UndoReport): string {
  return `${plural(corrections.length, 'correction')} of ${sumsText(sumsOf(corrections, currencyOf), scales)}`;
}

function beforeText(report: UndoReport): string {
  const { plan } = report;
  const parts = (['done before', 'voided before'] as const).flatMap((state) => {
    const count = plan.filter((one) => stateOf(one, report) === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  return parts.length === 0 ? '' : ` Besides, ${parts.join(', ')}.`;
}

function stateOf(one: Undo, { ended }: UndoReport): string {
  const state = ended.get(one) ?? one.doneBefore ?? 'would be written';
  if (typeof state !== 'object') return state;
  return `refused: ${state.refused}${state.isClosed ? '; --ask-again requests it again' : ''}`;
}

function decimal(amount: Units, one: Undo, { scales, currencyOf }: UndoReport): string {
  return formatSum(BigInt(amount), scales.of(currencyOf(one)));
}
