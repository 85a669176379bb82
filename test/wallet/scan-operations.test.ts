import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AuditItem,
  type AuditPlace,
  firstOf,
  scanOperations,
  type WantedOperations,
} from '../../src/wallet/queries/scan-operations.js';
import type { Wallets } from '../../src/wallet/state/wallets.js';
import { Domain, throughSnapshot } from '../support/domain.js';

/** Number of players, more than one turn examines. */
const PLAYERS = 1100;
const ANYTHING: WantedOperations = {
  by: undefined,
  type: undefined,
  username: undefined,
  fromMs: 0,
  beforeMs: Number.MAX_SAFE_INTEGER,
};

function played(): Domain {
  const domain = new Domain();
  for (let n = 0; n < PLAYERS; n++) {
    if (n % 7 === 0) domain.nowMs++;
    domain.fund(`p${n}`, 10);
    // Give every hundredth player several operations at the same time.
    if (n % 100 !== 0) continue;
    for (const id of ['d1', 'd2', 'd3']) {
      const by = { name: 'anna', address: '10.1.2.3' };
      domain.run({ type: 'deposit', id, username: `p${n}`, amount: n + 1, by });
    }
  }
  return domain;
}

function scan(wallets: Wallets, wanted: Partial<WantedOperations>, after: AuditPlace | undefined, limit: number) {
  let found: readonly AuditItem[] = [];
  let turns = 0;
  for (let from: number | undefined = 0; from !== undefined; turns++) {
    const result = scanOperations(wallets, {
      type: 'scan-operations',
      wanted: { ...ANYTHING, ...wanted },
      after,
      from,
      limit,
    });
    assert.ok(result.items.length <= limit);
    found = firstOf([...found, ...result.items], limit);
    from = result.next;
  }
  return { found, turns };
}

test('a scan finds operations of hibernated players and wakes none of them', () => {
  const { wallets } = played();
  const { found, turns } = scan(wallets, {}, undefined, 10_000);
  assert.equal(found.length, PLAYERS + 3 * 11);
  assert.ok(turns > 1);
  const packed = throughSnapshot(wallets);
  assert.deepEqual(scan(packed, {}, undefined, 10_000).found, found);
  assert.equal(packed.packedCount, PLAYERS);
  assert.deepEqual(scan(packed, { username: 'p100' }, undefined, 10).turns, 1);
  assert.equal(packed.packedCount, PLAYERS);
});

test('the pages together are the whole list, even with many equal times', () => {
  const { wallets } = played();
  const whole = scan(wallets, {}, undefined, 10_000).found;
  assert.ok(new Set(whole.map(({ place }) => place.timeMs)).size < whole.length, 'some are of one time');
  const pages: AuditItem[] = [];
  for (;;) {
    const { found } = scan(wallets, {}, pages.at(-1)?.place, 97);
    pages.push(...found);
    if (found.length < 97) break;
  }
  assert.deepEqual(pages, whole);
});

test('a scan filters by operator, kind, player and time', () => {
  const { wallets } = played();
  const count = (wanted: Partial<WantedOperations>) => scan(wallets, wanted, undefined, 10_000).found.length;
  assert.equal(count({ by: 'anna' }), 33);
  assert.equal(count({ by: 'ann' }), 0);
  assert.equal(count({ type: 'import' }), PLAYERS);
  assert.equal(count({ by: 'anna', username: 'p200' }), 3);
  const [newest] = scan(wallets, {}, undefined, 1).found;
  const timeMs = newest?.place.timeMs ?? 0;
  assert.equal(count({ beforeMs: timeMs }) + count({ fromMs: timeMs }), PLAYERS + 33);
});
