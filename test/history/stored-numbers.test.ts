import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CHANGE,
  CHANGE_FORMAT,
  ENDPOINT_FORMAT,
  ENDPOINT_NUMBER,
  EVENT,
  EVENT_FORMAT,
  eventToTuple,
  formatOf,
} from '../../src/store/format/event-codec.js';
import { STORE_FORMAT } from '../../src/store/format/format-gate.js';
import { commands, Domain } from '../support/domain.js';
import { readHistories } from './stored-history.js';

/*
 * Permitted contents of a log, each with the first store format that allows it. The nodes of a cluster write nothing
 * that a member cannot read. If a test here fails because of new contents, they need a new format
 * (src/store/format/format-gate.ts); nothing else in these lists may change.
 */
/** Number and format of each endpoint. */
const ENDPOINTS: Readonly<Record<string, readonly [number, number]>> = {
  placeBets: [0, 1],
  settleBets: [1, 1],
  adjustBets: [2, 1],
  voidSettled: [3, 1],
  cancelBets: [4, 1],
  cancelTips: [5, 1],
  placeTips: [6, 2],
  winRewards: [7, 2],
  adjustBalance: [8, 2],
  rollback: [9, 2],
};
/** Number and format of each event, and the lengths of its arrays in stored histories. */
const EVENTS: Readonly<Record<string, readonly [number, number, ...number[]]>> = {
  'player-created': [1, 1, 5, 6],
  'player-imported': [2, 1, 7, 8],
  deposited: [3, 1, 8, 9, 10],
  withdrawn: [4, 1, 8, 9, 10],
  'player-blocked': [5, 1, 4, 5],
  'player-unblocked': [6, 1, 4, 5],
  'rounds-forgotten': [7, 1, 5],
  'callback-applied': [8, 1, 10],
  corrected: [9, 1, 9, 10, 11],
  'rounds-archived': [10, 1, 5, 6],
  'rounds-restored': [11, 2, 5],
  'session-set': [12, 2, 6, 7],
  'session-ended': [13, 2, 4, 5],
  'money-requested': [15, 4, 9, 10],
  'request-closed': [16, 4, 6, 7],
};
const CHANGES: typeof EVENTS = {
  'bet-placed': [1, 1, 8],
  'bet-confirmed': [2, 1, 4],
  'bet-settled': [3, 1, 6],
  'single-state-settled': [4, 1, 10],
  'round-settled': [5, 1, 10],
  'bet-adjusted': [6, 1, 4],
  'bet-voided': [7, 1, 4],
  'round-voided': [8, 1, 5],
  'bet-cancelled': [9, 1, 4],
  'round-cancelled': [10, 1, 7],
  'round-marked': [11, 1, 4, 5],
  'cancel-remembered': [12, 1, 4],
  'tip-credited': [13, 1, 5],
  'tip-placed': [14, 2, 6],
  'tip-cancelled': [15, 2, 3],
  'reward-credited': [16, 2, 8],
  'reward-voided': [17, 2, 3, 4],
  'balance-debited': [18, 2, 4],
  'balance-credited': [19, 2, 4],
  'bet-rolled-back': [20, 2, 5],
  'round-rolled-back': [21, 2, 6],
  'single-state-resettled': [22, 2, 8],
  'rollback-repeated': [23, 2, 4],
  'message-remembered': [24, 3, 6],
  'bet-confirmed-anew': [25, 4, 5],
};

const lengths = new Map<string, Set<number>>();
const seen = (name: string, tuple: readonly unknown[]) => {
  lengths.set(name, (lengths.get(name) ?? new Set()).add(tuple.length));
};
for (const { logs } of readHistories()) {
  for (const event of logs.flatMap(({ entries }) => entries.flatMap(({ entry }) => entry.events))) {
    const tuple = eventToTuple(event, event.timeMs);
    seen(event.type, tuple);
    if (event.type !== 'callback-applied') continue;
    for (const [i, change] of (tuple.at(-1) as unknown[][]).entries()) seen(event.changes[i]?.type ?? '', change);
  }
}
const lengthsOf = (name: string) => [...(lengths.get(name) ?? [])].sort((a, b) => a - b);

test('each number in a log has a format, and none has changed', () => {
  const endpoints = Object.entries(ENDPOINT_NUMBER).map(([name, number]) => [
    name,
    [number, ENDPOINT_FORMAT[name as keyof typeof ENDPOINT_FORMAT]],
  ]);
  assert.deepEqual(Object.fromEntries(endpoints), ENDPOINTS);
  const events = Object.entries(EVENT).map(([name, number]) => [
    name,
    [number, EVENT_FORMAT[name as keyof typeof EVENT_FORMAT], ...lengthsOf(name)],
  ]);
  assert.deepEqual(Object.fromEntries(events), EVENTS);
  const changes = Object.entries(CHANGE).map(([name, number]) => [
    name,
    [number, CHANGE_FORMAT[name as keyof typeof CHANGE_FORMAT], ...lengthsOf(name)],
  ]);
  assert.deepEqual(Object.fromEntries(changes), CHANGES);
  assert.equal(STORE_FORMAT, 4);
});

test('rounds are restored only if all nodes can read their contents', () => {
  const domain = new Domain();
  domain.fund('ann', 100);
  const leave = () => {
    domain.letGo(10);
    domain.recall('ann', () => true);
    return formatOf(domain.events.at(-1) as (typeof domain.events)[number]);
  };
  domain.run(commands.place([{ id: 'b' }]));
  domain.run(commands.settle([{ id: 'b' }]));
  assert.equal(leave(), 2);
  domain.run(commands.settle([{ id: 'b' }], { id: 'another' }));
  assert.equal(leave(), 3);
});
