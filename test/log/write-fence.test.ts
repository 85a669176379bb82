import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { writeFence } from '../../src/log/write-fence.js';
import type { Append, AppendOutcome, Head, Takeover } from '../../src/ports/wal.js';

const headAt = (epoch: number, sequence: number, nonce: string): Head => ({
  lsn: { epoch, sequence },
  nonce: nonce.repeat(16),
  checksum: sequence,
});
const previous = headAt(1, 4, 'a');
const entry = { head: headAt(2, 5, 'b'), bytes: Buffer.from('fence') };
const fence: Takeover = { shard: 0, previous, entry };

/** Writes the fence to a log that gives these outcomes, one for each append. Returns the appends. */
async function written(...outcomes: AppendOutcome[]): Promise<Append[]> {
  const calls: Append[] = [];
  const append = async (appends: readonly Append[]) => {
    calls.push(...appends);
    return [outcomes[calls.length - 1] ?? { type: 'ok' as const }];
  };
  const policy = { attemptsMax: 1, log: silentLogger, delay: async () => {} };
  await writeFence(fence, { findEntriesAfter: () => undefined }, { ...policy, wal: { append } });
  return calls;
}

test('a fence that an earlier attempt wrote is confirmed with the same bytes', async () => {
  const calls = await written({ type: 'conflict', head: entry.head }, { type: 'duplicate' });
  assert.deepEqual(
    calls.map(({ expected, entries }) => [expected, entries]),
    [
      [previous, [entry]],
      [previous, [entry]],
    ],
  );
});

test('a fence is not written over an unknown head', async () => {
  await assert.rejects(written({ type: 'conflict', head: headAt(2, 5, 'c') }), /no longer belongs to this process/);
});
