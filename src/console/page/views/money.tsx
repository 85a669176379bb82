import { Books } from './books.js';
import { MoneyByDay } from './money-by-day.js';

interface Props {
  readonly days: string;
  readonly currency: string;
  readonly mayChange: boolean;
}

/** Money moved, and the books that account for it. */
export function MoneyView({ days, currency, mayChange }: Props) {
  return (
    <>
      <MoneyByDay days={days} currency={currency} />
      <Books mayChange={mayChange} />
    </>
  );
}
