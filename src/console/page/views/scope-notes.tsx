import { plain } from '../json.js';
import { Time } from '../parts/time.js';
import type { Scope } from './tallies.js';

/** Notes about parts that the ledger totals lack. */
export function ScopeNotes({ of: { sinceMillis, isWhole, shardsLeftOut } }: { readonly of: Scope }) {
  const left = plain(shardsLeftOut);
  return (
    <>
      {left > 0 && (
        <p class="note warn" role="alert">
          <strong>Not all of it:</strong> {left} {left === 1 ? 'shard does' : 'shards do'} not answer, and what is
          theirs is missing here.
        </p>
      )}
      {!isWhole && (
        <p class="note warn">
          <strong>Not all of it:</strong> there are more currencies or products than are counted.
        </p>
      )}
      {sinceMillis !== null && (
        <p class="hint">
          Counted since <Time ms={plain(sinceMillis)} />: before that walletd kept no such sums.
        </p>
      )}
    </>
  );
}
