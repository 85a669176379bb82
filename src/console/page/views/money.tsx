import { Books } from './books.js';

/** What moved, and whether it is all accounted for. */
export function MoneyView({ mayChange }: { readonly mayChange: boolean }) {
  return (
    <>
      <h1>Money</h1>
      <Books mayChange={mayChange} />
    </>
  );
}
