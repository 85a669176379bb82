import { plain } from '../json.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { useGet } from '../use-call.js';
import { count } from '../words.js';
import { ScopeNotes } from './scope-notes.js';
import type { Product, Products } from './tallies.js';
import type { BookLine } from './verification.js';

const KINDS: readonly (readonly [kind: BookLine, title: string])[] = [
  ['stakes', 'Bets'],
  ['payouts', 'Settlements'],
  ['adjustments', 'Adjustments'],
  ['refunds', 'Cancels'],
  ['voids', 'Voids'],
  ['rollbacks', 'Rollbacks'],
  ['tips', 'Tips'],
  ['tip-refunds', 'Cancelled tips'],
  ['rewards', 'Rewards'],
  ['movements', 'Debits and credits'],
];
const countOf = ({ changes }: Product, kind: BookLine) => changes[kind]?.exact ?? '0';
const COLUMNS: readonly Column<Product>[] = [
  {
    title: 'Product',
    text: ({ productId }) => productId,
    show: ({ productId }) => <bdi class="name">{productId}</bdi>,
  },
  {
    title: 'Last seen',
    text: ({ lastSeenMillis }) => utcOf(plain(lastSeenMillis)),
    show: ({ lastSeenMillis }) => <Time ms={plain(lastSeenMillis)} />,
  },
  ...KINDS.map(
    ([kind, title]): Column<Product> => ({
      title,
      text: (product) => countOf(product, kind),
      show: (product) => {
        const value = Number(countOf(product, kind));
        return <span class={value === 0 ? 'zero' : undefined}>{count(value)}</span>;
      },
      isNumber: true,
    }),
  ),
];

/** Products named by callbacks, with the number of effects of each kind. */
export function ProductsView() {
  const { answer, error, isWaiting, again } = useGet<Products>(() => '/v1/products');
  return (
    <>
      <header class="title">
        <h1>Products</h1>
        <button type="button" class="quiet" onClick={again}>
          Refresh
        </button>
      </header>
      <p class="hint">
        Repeated and refused messages are not counted; a single-state round counts as a bet and a settlement.
      </p>
      {error && <Failed error={error} again={again} />}
      {!answer && isWaiting && <Loading what="products" />}
      {answer && <ScopeNotes of={answer} />}
      {answer && answer.products.length > 0 && (
        <Table
          caption="Changes by product"
          columns={COLUMNS}
          rows={answer.products}
          keyOf={({ productId }) => productId}
        />
      )}
      {answer && answer.products.length === 0 && <Empty>No products yet: callbacks name them.</Empty>}
    </>
  );
}
