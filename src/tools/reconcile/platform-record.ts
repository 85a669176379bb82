import { CURRENCY } from '../../base/currency.js';
import { isGrouped } from '../../base/spreadsheet-cell.js';
import type { ScaleTable, Units } from '../../wallet/amount.js';
import { isId } from '../../wallet/identifier.js';
import { ToolError } from '../store-reader.js';
import type { Columns, Field, PlatformState } from './columns.js';
import { tryUnitsOf } from './decimal.js';
import type { RawRecord } from './raw-records.js';

/** A bet according to the platform. */
export interface PlatformRecord {
  readonly line: number;
  readonly username: string;
  readonly productId: string;
  readonly id: string;
  readonly roundId: string | undefined;
  readonly currency: string;
  readonly state: PlatformState;
  /** Undefined if the state has no such amount. */
  readonly stake: Units | undefined;
  readonly payout: Units | undefined;
  /** The time of this record according to the platform, in ms. */
  readonly timeMs: number | undefined;
}

/** Maximum length of quoted text in an error, because names from outside can be long. */
const SHOWN_MAX = 100;
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?$/;

/** Parses a record. Throws a `ToolError` that names the line and describes the mistake. */
export function platformRecord({ line, fields }: RawRecord, columns: Columns, scales: ScaleTable): PlatformRecord {
  const fail = (what: string): never => {
    throw new ToolError(`line ${line}: ${what}`);
  };
  const find = (field: Field) => fields[field] ?? columns.always[field];
  const must = (field: Field) =>
    find(field) ?? fail(`there is no ${field}: no column ${columns.names[field].join(' or ')} that has one`);
  const name = (field: Field) => {
    const text = must(field);
    return isId(text) ? text : fail(`${field} cannot be ${shown(text)}`);
  };
  const currency = must('currency');
  if (!CURRENCY.test(currency)) fail(`${shown(currency)} is not a currency`);
  const status = must('status');
  const state =
    columns.statuses.get(status.toUpperCase()) ??
    fail(`the status ${shown(status)} is unknown: map it in "statuses" of the mapping`);
  const amount = (field: 'stake' | 'payout') => {
    const text = must(field);
    const scale = scales.of(currency);
    const cure = isGrouped(text) ? 'write 1234.56, not 1,234.56 or 1.234,56' : `${currency} has ${scale} decimals`;
    return tryUnitsOf(text, scale) ?? fail(`${field} cannot be ${shown(text)}: ${cure}`);
  };
  const isReversed = state === 'VOID' || state === 'CANCELLED';
  const time = find('time');
  return {
    line,
    username: name('username'),
    productId: name('productId'),
    id: name('id'),
    roundId: find('roundId'),
    currency,
    state,
    stake: isReversed ? undefined : amount('stake'),
    payout: state === 'SETTLED' ? amount('payout') : undefined,
    timeMs:
      time === undefined ? undefined : (tryTime(time, columns.zone) ?? fail(`not a time with a zone: ${shown(time)}`)),
  };
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text);
}

function tryTime(text: string, zone: string | undefined): number | undefined {
  if (/^\d{12,14}$/.test(text)) return Number(text);
  const [, date, time, own = zone] = TIME.exec(text) ?? [];
  if (date === undefined || own === undefined) return undefined;
  const timeMs = Date.parse(`${date}T${time}${own.replace(/^(.\d\d)(\d\d)$/, '$1:$2')}`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
