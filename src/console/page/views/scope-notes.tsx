import { plain } from '../json.js';
import { Time } from '../parts/time.js';
import type { Scope } from './tallies.js';

/** Notes about parts that are missing from the ledger totals. */
export function ScopeNotes({ of: { sinceMillis, isWhole, shardsLeftOut } }: { readonly of: Scope }) {
  const left = plain(shardsLeftOut);
  return (
    <>
      {left > 0 && (
        <p class="note warn" role="alert">
          <strong>Incomplete:</strong> {left} {left === 1 ? 'shard does' : 'shards do'} not answer, so part of the
          totals is missing.
        </p>
      )}
      {!isWhole && (
        <p class="note warn">
          <strong>Incomplete:</strong> there are more currencies or products than walletd counts.
        </p>
      )}
      {sinceMillis !== null && (
        <p class="hint">
          Totals begin at <Time ms={plain(sinceMillis)} />.
        </p>
      )}
    </>
  );
}
