import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { DAY_MS } from '../../../src/base/time.js';
import { DEFAULT_COLUMNS } from '../../../src/tools/reconcile/columns.js';
import type { Difference } from '../../../src/tools/reconcile/difference.js';
import { type Reconciliation, reconcile } from '../../../src/tools/reconcile/reconcile.js';
import { Window } from '../../../src/tools/reconcile/window.js';
import type { StoreReader } from '../../../src/tools/store-reader.js';
import { commands } from '../../support/domain.js';
import { WrittenStore } from '../written-store.js';
import { playRounds, type Reported, WAYS, type Way } from './platform-history.js';

const { place, settle, reward, movement, void: voidSettled } = commands;
const PLAYERS = ['ann', 'bob', 'cat'];
const ROUNDS = 6 * WAYS.length;
const ALWAYS = new Window(undefined, undefined);

async function playedStore(): Promise<{ store: WrittenStore; reported: Reported[] }> {
  const store = new WrittenStore(2);
  await store.takeOver();
  for (const username of PLAYERS) await store.fund(username, 100_000_000);
  const reported = await playRounds(store, PLAYERS, 0, ROUNDS / 2);
  await store.snapshot(0);
  await store.snapshot(1);
  reported.push(...(await playRounds(store, PLAYERS, ROUNDS / 2, ROUNDS)));
  return { store, reported: reported };
}

interface Found extends Reconciliation {
  readonly differences: readonly Difference[];
}

async function look(reader: StoreReader, reported: readonly Reported[], window = ALWAYS): Promise<Found> {
  const differences: Difference[] = [];
  const text = reported.map((record) => `${JSON.stringify(record)}\n`).join('');
  async function* history() {
    yield Buffer.from(text);
  }
  const result = await reconcile(history(), reader, {
    columns: DEFAULT_COLUMNS,
    window,
    folder: tmpdir(),
    onDifferences: async (some) => void differences.push(...some),
  });
  return { ...result, differences };
}

const namesOf = (differences: readonly Difference[]) =>
  differences.map(({ types, roundId, id }) => `${types.join('+')} ${id ?? roundId}`).sort();

/** The amount by which the players' balances in walletd exceed the platform's, in units, summed over all days. */
function surplusOf({ sums }: Found): bigint {
  return sums
    .all()
    .reduce(
      (sum, { theirs, ours }) =>
        sum + ours.payout.value - ours.stake.value - (theirs.payout.value - theirs.stake.value),
      0n,
    );
}

test('a history that agrees has no differences and the same sums as the store', async () => {
  const { store, reported } = await playedStore();
  const found = await look(store.reader, reported);
  assert.deepEqual(found.differences, []);
  assert.deepEqual(
    { ...found.counts },
    { theirs: 78, ours: 78, equal: 78, outside: 0, cancelled: 0, roundsEqual: 6, roundsUnknown: 0 },
  );
  assert.ok(found.sums.all().every(({ isEqual }) => isEqual));
  const balances = PLAYERS.reduce(
    (sum, name) => sum + (store.wallets[store.shardOf(name)]?.get(name)?.balance ?? 0),
    0,
  );
  const moved = found.sums.all().reduce((sum, { ours }) => sum + ours.payout.value - ours.stake.value, 0n);
  assert.equal(moved, BigInt(balances - 300_000_000));
});

interface Planted {
  /** Changes the first record whose round ended in this way. */
  readonly way: Way;
  readonly change: (record: Reported) => readonly Reported[];
  readonly found: (record: Reported) => readonly string[];
  /** The amount by which the players' balances in walletd then exceed the platform's, in units. */
  readonly surplus: (record: Reported) => number;
}

const units = (amount: number) => Math.round(amount * 10_000);

const PLANTED: Readonly<Record<string, Planted>> = {
  'a settled bet is not in the history': {
    way: 'settled',
    change: () => [],
    found: ({ betId }) => [`missing-there ${betId}`],
    surplus: ({ stake, payout }) => units((payout as number) - stake),
  },
  'an open bet is not in the history': {
    way: 'open',
    change: () => [],
    found: ({ betId }) => [`missing-there ${betId}`],
    surplus: ({ stake }) => -units(stake),
  },
  'a bet is not here': {
    way: 'single',
    change: (record) => [record, { ...record, betId: 'stranger', stake: 3, payout: 1 }],
    found: () => ['missing-here stranger'],
    surplus: () => units(2),
  },
  'a bet of another player is another bet': {
    way: 'lost',
    change: (record) => [{ ...record, username: 'nobody' }],
    found: ({ betId }) => [`missing-here ${betId}`, `missing-there ${betId}`],
    surplus: () => 0,
  },
  'another stake': {
    way: 'adjusted',
    change: (record) => [{ ...record, stake: record.stake + 0.0001 }],
    found: ({ betId }) => [`stake ${betId}`],
    surplus: () => 1,
  },
  'another stake of an open bet': {
    way: 'waiting',
    change: (record) => [{ ...record, stake: record.stake - 1 }],
    found: ({ betId }) => [`stake ${betId}`],
    surplus: () => units(-1),
  },
  'another payout': {
    way: 'settled',
    change: (record) => [{ ...record, payout: (record.payout as number) + 0.01 }],
    found: ({ betId }) => [`payout ${betId}`],
    surplus: () => -units(0.01),
  },
  'another stake and another payout': {
    way: 'single',
    change: (record) => [{ ...record, stake: 0, payout: 0 }],
    found: ({ betId }) => [`stake+payout ${betId}`],
    surplus: ({ stake, payout }) => units((payout as number) - stake),
  },
  'settled there and open here': {
    way: 'open',
    change: (record) => [{ ...record, betStatus: 'SETTLED', payout: 5 }],
    found: ({ betId }) => [`state ${betId}`],
    surplus: () => -units(5),
  },
  'open there and settled here': {
    way: 'settled',
    change: (record) => [{ ...record, betStatus: 'UNSETTLED' }],
    found: ({ betId }) => [`state ${betId}`],
    surplus: ({ payout }) => units(payout as number),
  },
  'unsettled there and never settled here': {
    way: 'open',
    change: (record) => [{ ...record, betStatus: 'UNSETTLED' }],
    found: ({ betId }) => [`state ${betId}`],
    surplus: () => 0,
  },
  'settled there and open since a rollback here': {
    way: 'reopened',
    change: (record) => [{ ...record, betStatus: 'SETTLED', payout: 5 }],
    found: ({ betId }) => [`state ${betId}`],
    surplus: () => -units(5),
  },
  'cancelled there and settled here': {
    way: 'lost',
    change: (record) => [{ ...record, betStatus: 'REJECT' }],
    found: ({ betId }) => [`state ${betId}`],
    surplus: ({ stake }) => -units(stake),
  },
  'settled there and void here': {
    way: 'voided',
    change: (record) => [{ ...record, betStatus: 'SETTLED', stake: 1, payout: 0 }],
    found: ({ betId }) => [`state ${betId}`],
    surplus: () => units(1),
  },
  'another currency': {
    way: 'single',
    change: (record) => [{ ...record, currency: 'BTC' }],
    found: ({ betId }) => [`currency ${betId}`],
    surplus: ({ stake, payout }) => units((payout as number) - stake) * (1 - 10_000),
  },
  'twice in the history': {
    way: 'settled',
    change: (record) => [record, record],
    found: ({ betId }) => [`duplicate ${betId}`],
    surplus: () => 0,
  },
  'twice, and the newer record is the right one': {
    way: 'settled',
    change: (record) => [record, { ...record, payout: 77, updatedDate: '2026-01-01T00:00:00Z' }],
    found: ({ betId }) => [`duplicate ${betId}`],
    surplus: () => 0,
  },
  'another payout of a round': {
    way: 'by-round',
    change: (record) => [{ ...record, payout: (record.payout as number) + 1 }],
    found: ({ roundId }) => [`round-payout ${roundId}`],
    surplus: () => -units(1),
  },
  'another payout of a round, of which the platform has a bet that was refused': {
    way: 'by-round',
    change: (record) => [
      { ...record, payout: (record.payout as number) + 1 },
      { ...record, betId: 'refused-in-round', betStatus: 'REJECT' },
    ],
    found: ({ roundId }) => [`round-payout ${roundId}`],
    surplus: () => -units(1),
  },
  'another stake in a round': {
    way: 'by-round',
    change: (record) => [{ ...record, stake: record.stake + 1 }],
    found: ({ betId }) => [`stake ${betId}`],
    surplus: () => units(1),
  },
  'a bet of a round is not in the history': {
    way: 'by-round',
    change: () => [],
    found: ({ betId }) => [`missing-there ${betId}`],
    surplus: ({ stake }) => -units(stake),
  },
  'a cancelled bet is on one side alone': {
    way: 'cancelled',
    change: (record) => [{ ...record, betId: 'refused' }],
    found: () => [],
    surplus: () => 0,
  },
};

for (const [name, { way, change, found: expected, surplus }] of Object.entries(PLANTED)) {
  test(`only the planted difference is found: ${name}`, async () => {
    const { store, reported } = await playedStore();
    const at = reported.findIndex((record) => record.way === way);
    const record = reported[at] as Reported;
    const found = await look(store.reader, reported.toSpliced(at, 1, ...change(record)));
    assert.deepEqual(namesOf(found.differences), expected(record));
    assert.equal(surplusOf(found), BigInt(surplus(record)));
  });
}

test('planted differences of all kinds are all found at once', async () => {
  const { store, reported } = await playedStore();
  const left = [...reported];
  const changed: Reported[] = [];
  const expected: string[] = [];
  for (const { way, change, found } of Object.values(PLANTED)) {
    const at = left.findIndex((record) => record.way === way);
    // Skip a way that has no round left, and the second bet of a round, because the first one has already used up the
    // round.
    const record = at === -1 ? undefined : left.splice(at, 1)[0];
    if (record === undefined || record.betId.endsWith('-b')) continue;
    if (way === 'by-round') changed.push(...left.splice(at, 1));
    changed.push(...change(record));
    expected.push(...found(record));
  }
  const found = await look(store.reader, [...left, ...changed]);
  assert.ok(expected.length > 15);
  assert.deepEqual(namesOf(found.differences), expected.sort());
});

test("changes near the window's edges are excused, and all others are reported", async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100_000_000);
  const since = store.nowMs;
  const until = since + DAY_MS;
  const bet = async (id: string, timeMs: number) => {
    store.nowMs = timeMs;
    await store.run(place([{ id, roundId: id }], { id }));
    return store.nowMs;
  };
  const pay = async (id: string, timeMs: number) => {
    store.nowMs = timeMs;
    await store.run(settle([{ id, roundId: id }], { id: `s-${id}` }));
  };
  const minute = 60_000;
  await bet('edge', since + minute);
  await bet('inside', since + 10 * minute);
  await bet('settled-late', since + 11 * minute);
  await bet('unsettled-here', since + 12 * minute);
  await bet('late', until - minute);
  await pay('settled-late', until - minute);
  const record = (betId: string, betStatus: string, timeMs: number): Reported => ({
    ...{ betId, username: 'ann', currency: 'THB', productId: 'P1', roundId: betId, stake: 0.001, payout: 0.0015 },
    ...{ betStatus, updatedDate: new Date(timeMs).toISOString(), way: 'open' },
  });
  const reported = [
    record('settled-late', 'OPEN', since + 11 * minute),
    record('unsettled-here', 'SETTLED', since + 20 * minute),
    record('stranger-at-the-edge', 'SETTLED', until - minute),
    record('stranger', 'SETTLED', until - 10 * minute),
  ];
  const found = await look(store.reader, reported, new Window(since, until));
  assert.deepEqual(namesOf(found.differences), [
    'missing-here stranger',
    'missing-there inside',
    'state unsettled-here',
  ]);
  assert.equal(found.counts.outside, 4);
  const all = await look(store.reader, reported);
  assert.deepEqual(namesOf(all.differences), [
    'missing-here stranger',
    'missing-here stranger-at-the-edge',
    'missing-there edge',
    'missing-there inside',
    'missing-there late',
    'state settled-late',
    'state unsettled-here',
  ]);
});

test('the sums of a day, product and currency differ only by reported differences', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100_000_000);
  const reported: Reported[] = [];
  for (let day = 0; day < 3; day++) {
    reported.push(...(await playRounds(store, ['ann'], 22 * day, 22 * (day + 1))));
    store.nowMs += DAY_MS;
  }
  const days = [...new Set(reported.map(({ updatedDate }) => updatedDate.slice(0, 10)))];
  const second = reported.filter(({ updatedDate }) => updatedDate.startsWith(days[1] as string));
  const changed = ['settled', 'by-round'].map((way) => second.find((record) => record.way === way) as Reported);
  const found = await look(
    store.reader,
    reported.map((record) =>
      changed.includes(record) ? { ...record, payout: (record.payout as number) + 1 } : record,
    ),
  );
  assert.deepEqual(found.differences.map(({ types }) => types).sort(), [['payout'], ['round-payout']]);
  const different = found.sums.all().filter(({ isEqual }) => !isEqual);
  const productsOf = new Set(changed.map(({ productId }) => productId));
  assert.deepEqual(
    different.map(({ day, productId }) => `${day} ${productId}`),
    [...productsOf].sort().map((productId) => `${days[1]} ${productId}`),
  );
  assert.equal(surplusOf(found), BigInt(units(-2)));
  assert.equal(found.sums.all().length, 6);
});

test('credits without a bet are summed by day and product and cause no difference', async () => {
  const store = new WrittenStore();
  await store.takeOver();
  await store.fund('ann', 100_000_000);
  const since = store.nowMs;
  const minute = 60_000;
  store.nowMs = since + 10 * minute;
  await store.run(
    place([{ id: 'b', roundId: 'r', betAmount: 10_000 }], { productId: 'P1' }),
    reward([{ id: 'b', roundId: 'r', payoutAmount: 50_000 }], { productId: 'P1', id: 'w1' }),
    reward([{ id: 'w', roundId: 'q', payoutAmount: 20_000 }], { productId: 'P1', id: 'w2' }),
    reward([{ id: 'void', roundId: 'q', payoutAmount: 70_000 }], { productId: 'P1', id: 'w3' }),
    voidSettled([{ id: 'void', roundId: 'q', betAmount: 0, payoutAmount: 70_000 }], { productId: 'P1', id: 'v' }),
    movement([{ id: 'b', status: 'DEBIT', amount: 30_000 }], { productId: 'P2', id: 'm1' }),
    movement([{ id: 'b', status: 'CREDIT', amount: 40_000 }], { productId: 'P2', id: 'm2' }),
  );
  store.nowMs = since + 2 * DAY_MS;
  await store.run(reward([{ id: 'late', payoutAmount: 90_000 }], { productId: 'P1', id: 'w4' }));
  const reported: Reported = {
    ...{ betId: 'b', username: 'ann', currency: 'THB', productId: 'P1', roundId: 'r', stake: 1, payout: null },
    ...{ betStatus: 'OPEN', updatedDate: new Date(since + 10 * minute).toISOString(), way: 'open' },
  };
  const found = await look(store.reader, [reported], new Window(since, since + DAY_MS));
  assert.deepEqual(found.differences, []);
  assert.deepEqual(
    found.sums.all().map(({ productId, ours, credits }) => [productId, ours.bets, credits.value]),
    [
      ['P1', 1, 70_000n],
      ['P2', 0, 40_000n],
    ],
  );
  assert.ok(found.sums.all().every(({ isEqual }) => isEqual));
});

test('temporary files have no names, even if the history cannot be read', async () => {
  const mine = () => readdirSync(tmpdir()).filter((name) => name.startsWith('walletd-reconcile-'));
  const { store, reported } = await playedStore();
  const wrong = { ...(reported[0] as Reported), betStatus: 'WON' };
  const looking = look(store.reader, [...reported, wrong]);
  assert.deepEqual(mine(), []);
  await assert.rejects(looking, { name: 'ToolError', message: /^line 79: the status "WON" is unknown/ });
  assert.deepEqual(mine(), []);
});
