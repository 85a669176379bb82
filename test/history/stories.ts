import { DAY_MS } from '../../src/base/time.js';
import { sessionDigest } from '../../src/callback/session-token.js';
import { commands } from '../support/domain.js';
import type { StoreWriter } from './store-writer.js';

const { place, settle, adjust, void: voided, cancel, tip, placeTip, reward, movement, rollback } = commands;

/**
 * Events in the stores of test/history, by folder: `v<format version>` or `v<format version>-<new feature>`. A folder
 * is written once, by the code of its time. Its story remains here for readers and never runs again, so a story with a
 * committed folder must never be edited. A new event, change, flag or field gets a new story. A new format version
 * repeats all stories under its own name.
 */
export const STORIES: Readonly<Record<string, (store: StoreWriter) => Promise<void>>> = {
  v1: everything,
  'v1-operators': operators,
  'v1-marks': marks,
  'v1-archive': archive,
  'v1-rollbacks': rollbacks,
  'v1-tips': tips,
  'v1-sessions': sessions,
  'v1-rollback-repeats': rollbackRepeats,
  'v1-reward-voids': rewardVoids,
  'v1-remembered': remembered,
  'v1-archive-marks': archiveMarks,
  'v1-approvals': approvals,
  'v1-other-stakes': otherStakes,
};

async function everything(store: StoreWriter): Promise<void> {
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: 1_699_999_999_000 });
  await store.write(
    { type: 'create-player', username: 'ann', currency: 'THB' },
    { type: 'import-player', id: 'opening', username: 'bob', currency: 'JPY', balance: 2 ** 40 },
    { type: 'import-player', id: 'opening', username: ZOE, currency: 'BTC', balance: 0 },
    { type: 'create-player', username: 'cy', currency: 'THB' },
    { type: 'import-player', id: 'opening', username: 'old', currency: 'THB', balance: 500_000 },
  );
  await store.write(
    { type: 'deposit', id: 'd-1', username: 'ann', amount: 10_000_000 },
    { type: 'withdraw', id: 'w-1', username: 'ann', amount: 250_000 },
    { type: 'deposit', id: 'd-1', username: ZOE, amount: 4_000_000_000 },
    { type: 'deposit', id: 'd-1', username: 'cy', amount: 1_000_000 },
  );
  await tellBetsOfAnn(store);
  await tellRoundsOfBob(store);
  await tellSingleStatesOfZoe(store);
  await tellCancelsOfCy(store);
  await tellOldTimes(store);
  await store.takeOver({ host: 'nœud-b', pid: 1, startedMs: store.now });
  // This owner writes only a fence.
  await store.takeOver({ host: 'node-c', pid: 4_000_000, startedMs: store.now });
  await tellTheEnd(store);
}

/** Single bets: opened, confirmed, adjusted, settled, voided and cancelled. */
async function tellBetsOfAnn(store: StoreWriter): Promise<void> {
  const a = { id: 'a', roundId: 'r1', betAmount: 100_000, gameCode: 'slot-7' };
  const b = { id: 'b', roundId: 'r1', betAmount: 50_000 };
  const c = { id: 'c', roundId: 'r2', betAmount: 70_000 };
  const d = { id: 'd', roundId: 'r2', betAmount: 1 };
  const feature = { id: 'feature', roundId: 'r2', betAmount: 0, isFeature: true };
  await store.write(
    place([a], { id: 'req-1', timestampMillis: 1_699_999_999_100 }),
    place([{ ...b, status: 'WAITING', skipBalanceUpdate: true, isFeatureBuy: true }]),
    place([{ ...c, status: 'WAITING' }]),
    place([{ ...d, status: 'WAITING', skipBalanceUpdate: true }]),
    place([feature]),
  );
  await store.write(
    place([b]),
    place([{ ...c, skipBalanceUpdate: true }]),
    place([{ ...d, status: 'WAITING' }]),
    adjust([{ ...a, betAmount: 120_000 }], { id: 'adjust-1' }),
    adjust([{ ...a, betAmount: 80_000 }], { id: 'adjust-2' }),
    settle([{ ...a, payoutAmount: 150_000, turnOver: 8.25 }]),
    settle([{ ...c, payoutAmount: 90_000, turnOver: 0.1, skipBalanceUpdate: true }]),
    settle([{ ...c, payoutAmount: 90_000, turnOver: 0.1, isEndRound: true }]),
    voided([{ ...a, betAmount: 80_000, payoutAmount: 150_000 }]),
  );
  await store.write(
    place([{ id: 'e', roundId: 'r3', betAmount: 5 }]),
    place([{ id: 'f', roundId: 'r3', betAmount: 6 }]),
    cancel([{ id: 'e', roundId: 'r3', betAmount: 5 }]),
    cancel([{ id: 'f', roundId: 'r3', betAmount: 6, status: 'REJECT' }]),
    { type: 'block-player', username: 'ann' },
    { type: 'unblock-player', username: 'ann' },
  );
}

/**
 * Complete rounds: settled, paid again, voided and cancelled. Also arrays, and a balance that a void takes below zero.
 */
async function tellRoundsOfBob(store: StoreWriter): Promise<void> {
  const bob = { username: 'bob', currency: 'JPY', productId: 'P2', timestampMillis: 5000.5 };
  const bets = (...ids: string[]) => ids.map((id) => ({ id, roundId: 'R1', betAmount: 3_000_000_000 }));
  const round = { roundId: 'R1', byRound: true };
  await store.write(
    place(bets('b1', 'b2', 'b3'), bob),
    settle([{ ...round, id: 's1', payoutAmount: 1000, turnOver: 1e-7 }], bob),
    settle([{ ...round, id: 's2', payoutAmount: 600, skipBalanceUpdate: true }], bob),
    settle([{ ...round, id: 's2', payoutAmount: 600, isEndRound: true }], bob),
    voided([{ id: 'b1', roundId: 'R1', betAmount: 3_000_000_000, payoutAmount: 1200 }], bob),
    voided([{ ...round, id: 'v1', betAmount: 6_000_000_000, payoutAmount: 400 }], bob),
  );
  const other = { ...bob, productId: 'P3' };
  await store.write(
    place(
      [
        { id: 'b1', roundId: 'R2', betAmount: 20 },
        { id: 'b2', roundId: 'R2', betAmount: 30 },
      ],
      other,
    ),
    cancel([{ id: 'c1', roundId: 'R2', byRound: true }], other),
    cancel([{ id: 'c2', roundId: 'R2', byRound: true }], { ...other, timestampMillis: 6000 }),
    place([{ id: 'b3', roundId: 'R3', betAmount: 40, status: 'WAITING' }], other),
    cancel([{ id: 'c1', roundId: 'R3', byRound: true, status: 'REJECT' }], other),
    cancel([{ id: 'c1', roundId: 'R4', byRound: true }], { ...other, timestampMillis: 7000 }),
  );
  store.rules = { ...store.rules, voidAmounts: 'request' };
  await store.write(
    place([{ id: 'b4', roundId: 'R5', betAmount: 100 }], other),
    settle([{ id: 'b4', roundId: 'R5', betAmount: 100, payoutAmount: 300 }], other),
    voided([{ id: 'b4', roundId: 'R5', betAmount: 90, payoutAmount: 2 ** 41 }], other),
  );
  store.rules = { ...store.rules, voidAmounts: 'recorded' };
}

/** Rounds that start and end in one message, with long and non-ASCII texts. */
async function tellSingleStatesOfZoe(store: StoreWriter): Promise<void> {
  const zoe = { username: ZOE, currency: 'BTC', productId: '製品' };
  const long = { gameCode: 'g'.repeat(40), playInfo: 'ø'.repeat(200) };
  const spin = { id: 'spin-1', roundId: 'spin-1', isSingleState: true, betAmount: 25, payoutAmount: 0, ...long };
  const bonus = { id: 'x'.repeat(32), roundId: '🎲', isSingleState: true, betAmount: 10_000, payoutAmount: 2 ** 33 };
  await store.write(
    settle([spin], zoe),
    settle([{ ...bonus, skipBalanceUpdate: true, isFeature: true, playInfo: '' }], zoe),
    settle([{ ...bonus, isFeatureBuy: true, isEndRound: true, turnOver: 123_456_789 }], zoe),
  );
}

/** Cancels that arrive too late, too early or for unknown bets, and a player who remains blocked. */
async function tellCancelsOfCy(store: StoreWriter): Promise<void> {
  const cy = { username: 'cy' };
  await store.write(
    cancel([{ id: 'never-seen' }], cy),
    place([{ id: 'seen' }, { id: 'tip-like', roundId: 'r9' }], cy),
    // One event with a known and an unknown element.
    cancel([{ id: 'seen' }, { id: 'not-seen' }], cy),
    tip([{ id: 'tip-like', roundId: 'r9' }], cy),
    tip([{ id: 'tip-1', roundId: 'r9', betAmount: 12_345 }], cy),
    tip([{ id: 'tip-2', roundId: 'r9', betAmount: 65_536 }], cy),
    { type: 'block-player', username: 'cy' },
  );
}

/** Old closed rounds leave memory, but an open bet keeps its whole round there. */
async function tellOldTimes(store: StoreWriter): Promise<void> {
  const old = { username: 'old' };
  await store.write(
    place([{ id: 'closed', roundId: 'r1' }], old),
    settle([{ id: 'closed', roundId: 'r1', payoutAmount: 33 }], old),
    place(
      [
        { id: 'settled', roundId: 'r2' },
        { id: 'open', roundId: 'r2' },
      ],
      old,
    ),
    settle([{ id: 'settled', roundId: 'r2', payoutAmount: 44 }], old),
    cancel([{ id: 'never-seen', roundId: 'r3' }], old),
  );
  store.wait(200 * DAY_MS);
  await store.write({ type: 'forget', username: 'old', beforeMs: store.now - 120 * DAY_MS });
}

/** The third epoch's owner acts on everything that is still open. */
async function tellTheEnd(store: StoreWriter): Promise<void> {
  await store.write(
    settle([{ id: 'b', roundId: 'r1', payoutAmount: 1_000_000, isEndRound: true }]),
    settle([{ id: 'open', roundId: 'r2' }], { username: 'old' }),
    { type: 'withdraw', id: 'w-2', username: 'ann', amount: 1 },
    tip([{ id: 'tip-3', roundId: 'r9', betAmount: 1 }], { username: 'cy' }),
  );
}

/** Operations on players, with and without an operator's signature, and corrections of balances. */
async function operators(store: StoreWriter): Promise<void> {
  const anna = { name: 'anna', address: '10.1.2.3' };
  const zoë = { name: 'zoë 🎲', address: '2001:db8::7' };
  const correction = { type: 'correct', allowNegativeBalance: false } as const;
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write(
    { type: 'create-player', username: 'ann', currency: 'THB', by: anna },
    { type: 'create-player', username: 'bob', currency: 'THB' },
    { type: 'import-player', id: 'opening', username: 'cy', currency: 'JPY', balance: 2 ** 40, by: zoë },
    { type: 'import-player', id: 'opening', username: 'old', currency: 'THB', balance: 500_000 },
  );
  await store.write(
    { type: 'deposit', id: 'd-1', username: 'ann', amount: 10_000_000, by: anna },
    { type: 'deposit', id: 'd-1', username: 'bob', amount: 1000 },
    { type: 'withdraw', id: 'w-1', username: 'ann', amount: 250_000, by: zoë },
    { type: 'withdraw', id: 'w-1', username: 'old', amount: 1 },
  );
  await store.write(
    { type: 'block-player', username: 'ann', by: anna },
    { type: 'unblock-player', username: 'ann', by: anna },
    { type: 'block-player', username: 'old' },
    { type: 'unblock-player', username: 'old' },
    { type: 'block-player', username: 'cy', by: zoë },
  );
  await store.write(
    { ...correction, id: 'c-1', username: 'ann', amount: 70_000, reason: 'the bonus of May', by: anna },
    { ...correction, id: 'c-2', username: 'ann', amount: -1, reason: 'ø'.repeat(300), by: zoë },
    { ...correction, id: 'c-1', username: 'cy', amount: -(2 ** 40), reason: 'opened twice' },
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  const debt = { allowNegativeBalance: true, reason: 'paid twice, and spent' };
  await store.write(
    { ...correction, ...debt, id: 'c-2', username: 'cy', amount: -(2 ** 41), by: anna },
    { ...correction, id: 'c-3', username: 'cy', amount: 5, reason: 'paid back', by: anna },
    { ...correction, ...debt, id: 'c-1', username: 'bob', amount: -5000, by: zoë },
    place([{ id: 'a' }], { username: 'ann' }),
  );
  store.wait(200 * DAY_MS);
  await store.write(
    { type: 'block-player', username: 'old', by: anna },
    { type: 'forget', username: 'old', beforeMs: store.now - 120 * DAY_MS },
  );
}

/** Money that waits for a second operator: approved, refused, expired, and still waiting. */
async function approvals(store: StoreWriter): Promise<void> {
  const anna = { name: 'anna', address: '10.1.2.3' };
  const zoë = { name: 'zoë 🎲', address: '2001:db8::7' };
  const correction = { type: 'correct', allowNegativeBalance: false, reason: 'won in May' } as const;
  store.rules = { ...store.rules, approvalAbove: { THB: 1000 }, approvalMs: DAY_MS };
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write(
    { type: 'create-player', username: 'ann', currency: 'THB', by: anna },
    { type: 'create-player', username: 'bob', currency: 'THB', by: anna },
    { type: 'deposit', id: 'd-1', username: 'ann', amount: 1000, by: anna },
    { type: 'deposit', id: 'd-2', username: 'ann', amount: 5000, by: anna },
    { ...correction, id: 'c-1', username: 'ann', amount: -9000, allowNegativeBalance: true, by: anna },
    { ...correction, id: 'c-2', username: 'ann', amount: 1001, by: zoë },
    { type: 'deposit', id: 'd-1', username: 'bob', amount: 7000 },
    { type: 'deposit', id: 'd-2', username: 'bob', amount: 8000, by: zoë },
  );
  await store.write(
    { type: 'approve-request', id: 'd-2', username: 'ann', by: zoë },
    { type: 'approve-request', id: 'd-1', username: 'bob', by: zoë },
    { type: 'withdraw', id: 'w-1', username: 'ann', amount: 2000, by: anna },
    { type: 'refuse-request', id: 'c-2', username: 'ann', by: anna },
    { type: 'withdraw', id: 'w-1', username: 'bob', amount: 6000, by: anna },
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  await store.write(
    { type: 'approve-request', id: 'w-1', username: 'ann', by: zoë },
    { type: 'approve-request', id: 'c-1', username: 'ann', by: zoë },
    { type: 'approve-request', id: 'w-1', username: 'bob', by: zoë },
  );
  store.wait(DAY_MS);
  await store.write(
    { type: 'expire-request', id: 'd-2', username: 'bob' },
    { ...correction, id: 'c-3', username: 'bob', amount: 123_456, by: zoë },
    { type: 'deposit', id: 'd-9', username: 'ann', amount: 2 ** 40, by: anna },
  );
}

/** Rounds of two products leave for an archive. One of them returns, is voided, and leaves again. */
async function archive(store: StoreWriter): Promise<void> {
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 });
  const other = { productId: 'P2' };
  await store.write(
    place([{ id: 'a', roundId: 'r1' }]),
    place([{ id: 'b', roundId: 'r2' }]),
    place([{ id: 'c', roundId: 'r3' }], other),
    place([{ id: 'open', roundId: 'r4' }]),
    settle([{ id: 'a', roundId: 'r1', payoutAmount: 30 }]),
    settle([{ id: 's', roundId: 'r2', payoutAmount: 5, byRound: true, isEndRound: true }]),
    settle([{ id: 'c', roundId: 'r3', payoutAmount: 0 }], other),
    cancel([{ id: 'never', roundId: 'r5' }]),
    cancel([{ id: 'x', roundId: 'r6', byRound: true }]),
  );
  const gone = store.closedRoundsOf('ann');
  await store.write({ type: 'archive', username: 'ann', rounds: gone, beforeMs: store.now + 1 });
  await store.write(
    { type: 'restore-rounds', username: 'ann', images: gone.slice(1, 3).map(({ image }) => image) },
    voided([{ id: 'v', roundId: 'r2', byRound: true }]),
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  const rounds = store.closedRoundsOf('ann');
  await store.write({ type: 'archive', username: 'ann', rounds, beforeMs: store.now + 1 });
}

/** Bets and rounds that are reopened and settled again, and settles and cancels that store their requests. */
async function rollbacks(store: StoreWriter): Promise<void> {
  const by = (id: string, timestampMillis = 2000.5) => ({ id, timestampMillis });
  const skip = { skipBalanceUpdate: true };
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write(
    { type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 },
    { type: 'import-player', id: 'opening', username: 'bob', currency: 'THB', balance: 500_000 },
  );
  await store.write(
    place([{ id: 'a' }, { id: 'b' }]),
    settle([{ id: 'a' }], by('settle-1')),
    rollback([{ id: 'a' }], by('rollback-1')),
    settle([{ id: 'a', ...skip, isEndRound: true }], by('settle-2')),
    cancel([{ id: 'b' }], by('cancel-1')),
    rollback([{ id: 'b', ...skip }], by('rollback-2')),
    cancel([{ id: 'b', status: 'REJECT' }], by('cancel-2')),
    rollback([{ id: 'a' }], by('rollback-3')),
  );
  const round = { roundId: 'R', byRound: true };
  await store.write(
    place([
      { id: 'c', roundId: 'R' },
      { id: 'd', roundId: 'R', status: 'WAITING' },
    ]),
    settle([{ ...round, id: 's1', payoutAmount: 40, isEndRound: true }], by('settle-3')),
    rollback([{ id: 'c', roundId: 'R', payoutAmount: 15 }], by('rollback-4')),
    settle([{ ...round, id: 's2', payoutAmount: 7 }], by('settle-4')),
    rollback([{ ...round, id: 'x' }], by('rollback-5', 3000)),
    cancel([{ ...round, id: 'c1' }], by('cancel-3')),
    rollback([{ ...round, id: 'x' }], by('rollback-6', 4000)),
    settle([{ ...round, id: 's1', payoutAmount: 50, ...skip }], by('settle-5')),
    rollback([{ ...round, id: 'x', ...skip }], by('rollback-7', 5000)),
    cancel([{ ...round, id: 'c1', status: 'REJECT' }], by('cancel-4')),
  );
  const bob = { username: 'bob' };
  const single = { isSingleState: true, roundId: 'S' };
  await store.write(
    settle([{ id: 'e', ...single }], { ...bob, ...by('settle-6') }),
    rollback([{ id: 'e', roundId: 'S' }], { ...bob, ...by('rollback-8') }),
    settle([{ id: 'e', ...single, betAmount: 30, payoutAmount: 70, isEndRound: true }], { ...bob, ...by('settle-7') }),
    rollback([{ id: 'e', roundId: 'S' }], { ...bob, ...by('rollback-9') }),
    settle([{ id: 'e', ...single, betAmount: 30, payoutAmount: 70, ...skip }], { ...bob, ...by('settle-8') }),
    rollback([{ id: 'e', roundId: 'S' }], { ...bob, ...by('rollback-10') }),
    settle([{ id: 'e', roundId: 'S', payoutAmount: 1 }], { ...bob, ...by('settle-9') }),
    settle([{ id: 'f', ...single, ...skip, isEndRound: true, isFeature: true }], { ...bob, ...by('settle-10') }),
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
}

async function rollbackRepeats(store: StoreWriter): Promise<void> {
  const by = (id: string) => ({ id, timestampMillis: 2000.5 });
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 });
  await store.write(
    place([{ id: 'a' }]),
    settle([{ id: 'a', payoutAmount: 40 }], by('settle-1')),
    rollback([{ id: 'a' }], by('rollback-1')),
    rollback([{ id: 'a' }], by('rollback-2')),
    placeTip([{ id: 't' }]),
    tip([{ id: 't' }], by('cancel-1')),
    rollback([{ id: 't' }], by('rollback-3')),
    rollback([{ id: 't' }], by('rollback-4')),
  );
  const round = { id: 'x', roundId: 'R', byRound: true };
  await store.write(
    place([{ id: 'c', roundId: 'R' }]),
    settle([{ ...round, id: 's1', payoutAmount: 70 }], by('settle-2')),
    rollback([round], by('rollback-5')),
    rollback([round], by('rollback-6')),
    rollback([{ id: 'c', roundId: 'R' }], by('rollback-7')),
    settle([{ id: 'c', roundId: 'R', payoutAmount: 70 }], by('settle-3')),
    rollback([{ id: 'c', roundId: 'R' }, round], by('rollback-8')),
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
}

async function rewardVoids(store: StoreWriter): Promise<void> {
  const by = (id: string) => ({ id, timestampMillis: 2000.5 });
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 });
  await store.write(
    reward([{ id: 'w', payoutAmount: 40 }]),
    voided([{ id: 'w', payoutAmount: 40 }], by('void-1')),
    place([{ id: 'w' }]),
    settle([{ id: 'w', payoutAmount: 70 }]),
    voided([{ id: 'w', payoutAmount: 70 }], by('void-2')),
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
}

/** Rounds that are marked again, and arrays that name a removed round next to its bets. */
async function marks(store: StoreWriter): Promise<void> {
  const later = (days: number) => ({ timestampMillis: 1000 + days });
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write(
    { type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 },
    { type: 'import-player', id: 'opening', username: 'bob', currency: 'THB', balance: 500_000 },
  );
  await store.write(
    cancel([{ id: 'c1', roundId: 'unknown', byRound: true }]),
    place([{ id: 'a', roundId: 'known' }]),
    cancel([{ id: 'a', roundId: 'known' }]),
    place([
      { id: 'b', roundId: 'beside' },
      { id: 'c', roundId: 'beside' },
    ]),
    settle([{ id: 'c', roundId: 'beside', payoutAmount: 7 }]),
    cancel([
      { id: 'b', roundId: 'beside' },
      { id: 'c2', roundId: 'beside', byRound: true },
    ]),
  );
  const bob = { username: 'bob' };
  await store.write(
    place([{ id: 'a', roundId: 'r' }], bob),
    settle([{ id: 'a', roundId: 'r', payoutAmount: 9 }], bob),
    voided(
      [
        { id: 'a', roundId: 'r', payoutAmount: 9 },
        { id: 'v', roundId: 'r', byRound: true },
      ],
      bob,
    ),
  );
  store.wait(100 * DAY_MS);
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  await store.write(
    cancel([{ id: 'c1', roundId: 'unknown', byRound: true }], later(100)),
    cancel([{ id: 'c1', roundId: 'known', byRound: true }], later(100)),
  );
  store.wait(30 * DAY_MS);
  await store.write(
    { type: 'forget', username: 'ann', beforeMs: store.now - 120 * DAY_MS },
    { type: 'forget', username: 'bob', beforeMs: store.now - 120 * DAY_MS },
  );
}

/** Tips, rewards and movements: placed, skipped, given back, voided, and restored from an archive. */
async function tips(store: StoreWriter): Promise<void> {
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 });
  await store.write(
    place([{ id: 'b', roundId: 'r1' }]),
    placeTip([
      { id: 'stands', roundId: 'r1', betAmount: 50_000 },
      { id: 'goes', roundId: 'r1', betAmount: 7 },
    ]),
    placeTip([{ id: 'skipped', roundId: 'r2', betAmount: 9, skipBalanceUpdate: true }]),
    placeTip([{ id: 'skipped', roundId: 'r2', betAmount: 9 }]),
    placeTip([{ id: 'nothing', roundId: 'r2', betAmount: 0, skipBalanceUpdate: true }]),
    tip([{ id: 'goes', roundId: 'r1', betAmount: 999 }]),
    settle([{ id: 's', roundId: 'r1', byRound: true, payoutAmount: 30 }]),
  );
  await store.write(
    // The reward has the id of a bet, which it leaves unchanged.
    reward([{ id: 'b', roundId: 'r1', payoutAmount: 2 ** 33, betAmount: 10, playInfo: 'jackpot 🎲' }]),
    reward([{ id: 'void', roundId: 'r3', payoutAmount: 4000, gameCode: '', playInfo: '' }]),
    voided([{ id: 'void', roundId: 'r3', payoutAmount: 4000 }]),
    movement([
      { id: 'purse', status: 'DEBIT', amount: 300 },
      { id: 'purse', status: 'CREDIT', amount: 450 },
    ]),
    movement([{ id: 'r2', status: 'CREDIT', amount: 0 }]),
  );
  const gone = store.closedRoundsOf('ann');
  await store.write({ type: 'archive', username: 'ann', rounds: gone, beforeMs: store.now + 1 });
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  await store.write(
    { type: 'restore-rounds', username: 'ann', images: gone.slice(1).map(({ image }) => image) },
    cancel([{ id: 'skipped', roundId: 'r2', betAmount: 9, status: 'REJECT' }]),
  );
}

/** Sessions with and without an end or an operator, replaced, ended, and next to ledger totals. */
async function sessions(store: StoreWriter): Promise<void> {
  const by = { name: 'site', address: '10.0.0.7' };
  const digest = sessionDigest('ann', 'token-of-the-first-login');
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write(
    { type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 },
    { type: 'create-player', username: 'bob', currency: 'THB' },
  );
  await store.write(
    { type: 'set-session', username: 'ann', session: { digest, endMs: store.now + DAY_MS }, by },
    { type: 'set-session', username: 'bob', session: { digest: sessionDigest('bob', '1'), endMs: null } },
    tip([{ id: 'unknown', roundId: 'r1', betAmount: 9 }]),
  );
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  await store.write(
    { type: 'set-session', username: 'ann', session: { digest, endMs: null }, by },
    { type: 'end-session', username: 'bob', by },
    { type: 'set-session', username: 'bob', session: { digest: sessionDigest('bob', '2'), endMs: 0 }, by },
    { type: 'end-session', username: 'bob' },
  );
}

/** Rounds that leave for an archive. The log keeps the archive's newest record. */
async function archiveMarks(store: StoreWriter): Promise<void> {
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 });
  await store.write(reward([{ id: 'w1', roundId: 'r1' }]), reward([{ id: 'w2', roundId: 'r2' }]));
  const gone = store.closedRoundsOf('ann');
  const leave = (n: number, sequence: number) => {
    const rounds = gone.slice(n, n + 1);
    const mark = { epoch: 1, sequence, index: n };
    return { type: 'archive', username: 'ann', rounds, beforeMs: store.now + 1, mark } as const;
  };
  await store.write(leave(0, 2));
  await store.write(leave(1, 2 ** 33));
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
}

/**
 * Messages that rounds remember: arrays, the content of an earlier message under a different request id, and messages
 * after a rollback.
 */
async function remembered(store: StoreWriter): Promise<void> {
  let n = 0;
  const by = (id: string) => ({ id, timestampMillis: 2000 + n++ });
  await store.takeOver({ host: 'node-a', pid: 4242, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 500_000 });
  await store.write(
    place([{ id: 'a' }], by('q1')),
    place([{ id: 'a' }], by('q2')),
    placeTip([{ id: 't', roundId: 'r2' }], by('q3')),
    cancel(
      [
        { id: 'x', roundId: 'r3', byRound: true },
        { id: 'a', roundId: 'r1' },
      ],
      by('q4'),
    ),
    rollback([{ id: 'a', skipBalanceUpdate: true }], by('q5')),
    place([{ id: 'a', status: 'WAITING' }], by('q6')),
    place([{ id: 'a' }], by('q7')),
    settle([{ id: 'a', payoutAmount: 70 }], by('q8')),
    settle([{ id: 'a', payoutAmount: 70 }], by('q9')),
  );
  const gone = store.closedRoundsOf('ann');
  await store.write({ type: 'archive', username: 'ann', rounds: gone, beforeMs: store.now + 1 });
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
  await store.write(
    { type: 'restore-rounds', username: 'ann', images: gone.map(({ image }) => image) },
    rollback([{ id: 'a' }], by('q10')),
    settle([{ id: 's', roundId: 'r1', byRound: true, payoutAmount: 30 }], by('q11')),
    settle([{ id: 's', roundId: 'r1', byRound: true, payoutAmount: 30 }], by('q12')),
  );
}

const ZOE = 'zoë 🎲';

/** Confirmations whose stake differs from that of a skipped WAITING bet: taken, skipped, and after the settle. */
async function otherStakes(store: StoreWriter): Promise<void> {
  await store.takeOver({ host: 'node-a', pid: 1, startedMs: store.now });
  await store.write({ type: 'import-player', id: 'opening', username: 'ann', currency: 'THB', balance: 1_000_000 });
  const waiting = { status: 'WAITING', skipBalanceUpdate: true, betAmount: 100_000 } as const;
  for (const id of ['taken', 'skipped', 'late']) await store.write(place([{ id, ...waiting }]));
  await store.write(place([{ id: 'taken', betAmount: 95_000 }]));
  await store.write(place([{ id: 'skipped', betAmount: 95_000, skipBalanceUpdate: true }]));
  await store.write(place([{ id: 'skipped', betAmount: 95_000 }]));
  await store.write(settle([{ id: 'late', payoutAmount: 190_000 }]));
  await store.write(place([{ id: 'late', betAmount: 95_000 }]));
  await store.write(cancel([{ id: 'skipped', betAmount: 95_000 }]));
  await store.takeOver({ host: 'node-b', pid: 1, startedMs: store.now });
}
