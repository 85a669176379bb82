import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AssertionFailure } from '../../src/base/assert.js';
import type { ShardState } from '../../src/engine/shard.js';
import type { Facts, Role } from '../../src/replica/facts.js';
import { INPUT_TYPES, type Input } from '../../src/replica/input.js';
import { newReplica, REPLICA_STATES, type Replica, type ReplicaState } from '../../src/replica/replica.js';
import { TIMERS } from '../../src/replica/timers.js';
import { transition } from '../../src/replica/transition.js';
import type { MoveResult } from '../../src/threads/shards.js';
import { effectText, headFrom, quietFacts, SHARD, tagNamed } from './sample.js';

const TABLE = fileURLToPath(new URL('../../../test/replica/transitions.txt', import.meta.url));
const NOW_MS = 100_000;
const LATER_MS = NOW_MS + 10_000;
const MINE = headFrom('a:1-5');
const THEIRS = headFrom('b:1-5');
const PEER = tagNamed('b');

const handover = { to: PEER, sinceMs: NOW_MS, epoch: 1, head: undefined };
/** A typical replica of each state, and the state of its shard on the thread. */
const SAMPLES: Readonly<Record<ReplicaState, readonly [ShardState, Partial<Replica>]>> = {
  remote: ['away', {}],
  loading: ['away', { command: 'follow' }],
  standby: ['following', { askedSinceMs: NOW_MS }],
  taking: ['following', { command: 'take' }],
  serving: ['serving', { epoch: 1, isHeld: true }],
  pausing: ['handing', { command: 'pause', isHeld: true, handover }],
  offered: ['handing', { isHeld: true, handover: { ...handover, head: MINE } }],
  settling: ['handing', { command: 'resume', isHeld: true, handover: { ...handover, head: MINE } }],
  recovering: ['failing', { command: 'recover', isHeld: true }],
  paused: ['handing', { isHeld: true }],
  stopped: ['stopped', { stoppedAt: MINE }],
};

/** One input in one situation, with the name of its row. */
interface Case {
  readonly name: string;
  readonly input: Input | MoveResult['type'];
  readonly role?: Role;
  readonly nowMs?: number;
}

const CASES: readonly Case[] = [
  { name: 'tick, as owner', input: { type: 'tick' } },
  { name: 'tick, as follower', input: { type: 'tick' }, role: 'follower' },
  { name: 'tick, as neither', input: { type: 'tick' }, role: 'none' },
  { name: 'tick, 10 s later', input: { type: 'tick' }, nowMs: LATER_MS },
  { name: 'result done', input: 'done' },
  { name: 'result still', input: 'still' },
  { name: 'result taken', input: 'taken' },
  { name: 'result short', input: 'short' },
  { name: 'result conflict', input: 'conflict' },
  { name: 'result failed', input: 'failed' },
  { name: 'wanted', input: { type: 'wanted', by: PEER, sequence: 5 }, role: 'none' },
  { name: 'offered', input: { type: 'offered', head: headFrom('b:2-5'), untilMs: NOW_MS + 500 } },
  { name: 'owned', input: { type: 'owned', by: PEER, epoch: 2 }, role: 'none' },
  { name: 'fenced', input: { type: 'fenced' } },
  { name: 'recorded', input: { type: 'recorded' } },
  { name: 'not sent', input: { type: 'not-sent' } },
  { name: 'confirm', input: { type: 'confirm' } },
  { name: 'end', input: { type: 'end' } },
];

function resultOf(type: MoveResult['type']): MoveResult {
  if (type === 'done') return { type };
  if (type === 'failed') return { type, reason: 'the store is away', isPermanent: false };
  return { type, head: MINE };
}

/** States in which this node has paused the shard for its new owner. */
const HANDED: readonly ReplicaState[] = ['pausing', 'offered', 'settling'];

function rowOf(
  state: ReplicaState,
  { name, input, role = HANDED.includes(state) ? 'none' : 'owner', nowMs = NOW_MS }: Case,
): string {
  const [local, changes] = SAMPLES[state];
  const replica: Replica = { ...newReplica(SHARD, NOW_MS), ...changes, state };
  const quiet = quietFacts(local);
  const head = local === 'away' || local === 'following' ? THEIRS : MINE;
  const newOwner = { tag: PEER, isLinked: true, isGone: false, clockAheadMs: 0 };
  const facts: Facts = {
    ...quiet,
    nowMs,
    role,
    local: { ...quiet.local, head: local === 'away' ? undefined : head },
    holder: 'alive',
    head,
    newOwner: role === 'owner' ? undefined : newOwner,
  };
  const full: Input =
    typeof input === 'string' ? { type: 'result', of: replica.command ?? 'follow', result: resultOf(input) } : input;
  const start = `${state.padEnd(11)} ${name.padEnd(18)}`;
  try {
    const [next, effects] = transition(replica, full, facts);
    const end = next.state === state ? '' : next.state;
    return `${start} ${end.padEnd(11)} ${effects.map(effectText).join('; ')}`.trimEnd();
  } catch (error) {
    if (!(error instanceof AssertionFailure)) throw error;
    return `${start} impossible  ${error.message}`;
  }
}

const HEADING = `\
# Every state of a replica and every input: the next state, if it changes, and the effects.
# "impossible" marks a pair that an assertion excludes. UPDATE=1 sh test/run.sh test/replica/ rewrites this file.
`;

test('transitions.txt lists the outcome of every state and input', () => {
  const groups = REPLICA_STATES.map((state) => CASES.map((one) => rowOf(state, one)).join('\n'));
  const table = `${HEADING}\n${groups.join('\n\n')}\n`;
  if (process.env.UPDATE === '1') writeFileSync(TABLE, table);
  else assert.equal(table, readFileSync(TABLE, 'utf8'));
});

test('an offer ends before its owner resumes', () => {
  assert.ok(TIMERS.offer.ms < TIMERS.handover.ms);
});

test('every type of input has a row', () => {
  const shown = new Set(CASES.map(({ input }) => (typeof input === 'string' ? 'result' : input.type)));
  assert.deepEqual([...shown].sort(), [...INPUT_TYPES].sort());
});

test('a transition does not change its replica', () => {
  for (const state of REPLICA_STATES) {
    const [local, changes] = SAMPLES[state];
    const replica: Replica = Object.freeze({ ...newReplica(SHARD, 0), ...changes, state });
    transition(replica, { type: 'tick' }, { ...quietFacts(local), nowMs: NOW_MS });
  }
});
