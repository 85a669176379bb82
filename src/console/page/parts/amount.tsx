import { formatAmount } from '../../amount.js';
import type { Exact } from '../json.js';
import { NONE } from '../words.js';
import type { Column } from './table.js';

interface Props {
  readonly of: Exact;
  readonly currency: string;
}

/** An amount of money with its currency. */
export function Amount({ of: { exact }, currency }: Props) {
  return (
    <>
      {formatAmount(exact, currency)} {currency}
    </>
  );
}

/** Column of amounts: grouped digits in the table, and the API's notation in CSV. */
export function amountColumn<T>(
  title: string,
  amountOf: (row: T) => Exact | undefined,
  currencyOf: (row: T) => string,
): Column<T> {
  return {
    title,
    text: (row) => amountOf(row)?.exact ?? NONE,
    show: (row) => {
      const amount = amountOf(row);
      return amount === undefined ? NONE : formatAmount(amount.exact, currencyOf(row));
    },
    isNumber: true,
  };
}
