import { unreachable } from '../../base/assert.js';
import type { ArchiveMark } from '../../wallet/archive-mark.js';
import type { CancelState, ChangingEndpoint, OpenState } from '../../wallet/command.js';
import type { CallbackApplied, Change, Event } from '../../wallet/event.js';
import type { Operator } from '../../wallet/state/operation.js';
import type { RoundName } from '../../wallet/state/round.js';
import { imageRemembers } from '../../wallet/state/serialized-round.js';
import { UnknownFormatError } from './format-error.js';
import { APPROVALS_FORMAT, KEPT_REQUESTS_FORMAT, REMEMBERED_MESSAGES_FORMAT } from './format-gate.js';

/*
 * Encodes events as positional arrays, which msgpack then packs. FORMAT.md lists them. The meaning of a number never
 * changes. A field may be added at the end of an array, with a default for older logs; any other change needs a new
 * number.
 */
type Tuple = readonly unknown[];

/** Endpoint numbers in the log. They are stored permanently: a number never changes and is never reused. */
export const ENDPOINT_NUMBER: Readonly<Record<ChangingEndpoint, number>> = {
  placeBets: 0,
  settleBets: 1,
  adjustBets: 2,
  voidSettled: 3,
  cancelBets: 4,
  cancelTips: 5,
  placeTips: 6,
  winRewards: 7,
  adjustBalance: 8,
  rollback: 9,
};
const ENDPOINT_BY_NUMBER = new Map(
  Object.entries(ENDPOINT_NUMBER).map(([endpoint, number]) => [number, endpoint as ChangingEndpoint]),
);

export const EVENT = {
  'player-created': 1,
  'player-imported': 2,
  deposited: 3,
  withdrawn: 4,
  'player-blocked': 5,
  'player-unblocked': 6,
  'rounds-forgotten': 7,
  'callback-applied': 8,
  corrected: 9,
  'rounds-archived': 10,
  'rounds-restored': 11,
  'session-set': 12,
  'session-ended': 13,
  'money-requested': 15,
  'request-closed': 16,
} as const;

export const CHANGE = {
  'bet-placed': 1,
  'bet-confirmed': 2,
  'bet-settled': 3,
  'single-state-settled': 4,
  'round-settled': 5,
  'bet-adjusted': 6,
  'bet-voided': 7,
  'round-voided': 8,
  'bet-cancelled': 9,
  'round-cancelled': 10,
  'round-marked': 11,
  'cancel-remembered': 12,
  'tip-credited': 13,
  'tip-placed': 14,
  'tip-cancelled': 15,
  'reward-credited': 16,
  'reward-voided': 17,
  'balance-debited': 18,
  'balance-credited': 19,
  'bet-rolled-back': 20,
  'round-rolled-back': 21,
  'single-state-resettled': 22,
  'rollback-repeated': 23,
  'message-remembered': 24,
  'bet-confirmed-anew': 25,
} as const;

/**
 * Number of a `callback-applied` event whose bets and tips keep the hash of their request id. An older reader must not
 * ignore these hashes, so the event has its own number.
 */
const CALLBACK_THAT_REMEMBERS = 14;

/*
 * The store format (see format-gate.ts) that a reader needs for each event. A new event type needs a new number, and
 * therefore a format that no older walletd supports.
 */
export const EVENT_FORMAT: Readonly<Record<Event['type'], number>> = {
  'player-created': 1,
  'player-imported': 1,
  deposited: 1,
  withdrawn: 1,
  'player-blocked': 1,
  'player-unblocked': 1,
  'rounds-forgotten': 1,
  'callback-applied': 1,
  corrected: 1,
  'rounds-archived': 1,
  // A serialized round may contain anything that format 2 adds to rounds. `formatOf` detects rounds that need format 3.
  'rounds-restored': 2,
  'session-set': 2,
  'session-ended': 2,
  'money-requested': APPROVALS_FORMAT,
  'request-closed': APPROVALS_FORMAT,
};

export const CHANGE_FORMAT: Readonly<Record<Change['type'], number>> = {
  'bet-placed': 1,
  'bet-confirmed': 1,
  'bet-settled': 1,
  'single-state-settled': 1,
  'round-settled': 1,
  'bet-adjusted': 1,
  'bet-voided': 1,
  'round-voided': 1,
  'bet-cancelled': 1,
  'round-cancelled': 1,
  'round-marked': 1,
  'cancel-remembered': 1,
  'tip-credited': 1,
  'tip-placed': 2,
  'tip-cancelled': 2,
  'reward-credited': 2,
  'reward-voided': 2,
  'balance-debited': 2,
  'balance-credited': 2,
  'bet-rolled-back': 2,
  'round-rolled-back': 2,
  'single-state-resettled': 2,
  'rollback-repeated': 2,
  'message-remembered': 3,
  'bet-confirmed-anew': 4,
};

export const ENDPOINT_FORMAT: Readonly<Record<ChangingEndpoint, number>> = {
  placeBets: 1,
  settleBets: 1,
  adjustBets: 1,
  voidSettled: 1,
  cancelBets: 1,
  cancelTips: 1,
  placeTips: 2,
  winRewards: 2,
  adjustBalance: 2,
  rollback: 2,
};

/** The store format that a reader of this event needs. */
export function formatOf(event: Event): number {
  const format = EVENT_FORMAT[event.type];
  if (event.type === 'rounds-restored') return event.images.some(imageRemembers) ? REMEMBERED_MESSAGES_FORMAT : format;
  if ('approvedBy' in event && event.approvedBy !== undefined) return APPROVALS_FORMAT;
  if (event.type !== 'callback-applied') return format;
  const least = event.remembers ? REMEMBERED_MESSAGES_FORMAT : format;
  return Math.max(least, ENDPOINT_FORMAT[event.endpoint], ...event.changes.map(formatOfChange));
}

function formatOfChange(change: Change): number {
  const keepsRequest = 'keepsRequest' in change && change.keepsRequest;
  return Math.max(CHANGE_FORMAT[change.type], keepsRequest ? KEPT_REQUESTS_FORMAT : 1);
}

const WAITING = 1;
const SKIP = 2;
const FEATURE = 4;
const FEATURE_BUY = 8;
const ENDS_ROUND = 16;
const TAKES = 32;
const REJECT = 64;
const TOUCHES = 128;
const KEEPS_REQUEST = 256;
const BY_ROUND = 512;

interface Flagged {
  readonly status?: string;
  readonly state?: CancelState;
  readonly skip?: boolean;
  readonly isFeature?: boolean;
  readonly isFeatureBuy?: boolean;
  readonly endsRound?: boolean;
  readonly takes?: boolean;
  readonly touches?: boolean;
  readonly keepsRequest?: boolean;
  readonly byRound?: boolean;
}

function flagsOf(change: Flagged): number {
  return (
    (change.status === 'WAITING' ? WAITING : 0) |
    (change.skip ? SKIP : 0) |
    (change.isFeature ? FEATURE : 0) |
    (change.isFeatureBuy ? FEATURE_BUY : 0) |
    (change.endsRound ? ENDS_ROUND : 0) |
    (change.takes ? TAKES : 0) |
    (change.state === 'REJECT' ? REJECT : 0) |
    (change.touches ? TOUCHES : 0) |
    (change.keepsRequest ? KEEPS_REQUEST : 0) |
    (change.byRound ? BY_ROUND : 0)
  );
}

/** Encodes an event. `batchTimeMs` is the entry's time; the event stores its offset from it. */
export function eventToTuple(event: Event, batchTimeMs: number): Tuple {
  const code = EVENT[event.type];
  const { username, version } = event;
  const elapsedMs = event.timeMs - batchTimeMs;
  switch (event.type) {
    case 'callback-applied': {
      const { requestId, productId, timestampMillis, before } = event;
      const endpoint = ENDPOINT_NUMBER[event.endpoint];
      const changes = event.changes.map(changeToTuple);
      const number = event.remembers ? CALLBACK_THAT_REMEMBERS : code;
      return [number, username, version, elapsedMs, endpoint, requestId, productId, timestampMillis, before, changes];
    }
    case 'player-created':
      return signed([code, username, version, elapsedMs, event.currency], event.by);
    case 'player-imported':
      return signed([code, username, version, elapsedMs, event.currency, event.id, event.balance], event.by);
    case 'deposited':
    case 'withdrawn':
      return approved(
        [code, username, version, elapsedMs, event.id, event.amount, event.before, event.after],
        event.by,
        event.approvedBy,
      );
    case 'corrected': {
      const { id, amount, before, after, reason, by, approvedBy } = event;
      return approved([code, username, version, elapsedMs, id, amount, before, after, reason], by, approvedBy);
    }
    case 'money-requested': {
      const { id, amount, expiresMs, allowNegativeBalance, reason, by } = event;
      return signed([code, username, version, elapsedMs, id, amount, expiresMs, allowNegativeBalance, reason], by);
    }
    case 'request-closed':
      return signed([code, username, version, elapsedMs, event.id, event.outcome], event.by);
    case 'player-blocked':
    case 'player-unblocked':
    case 'session-ended':
      return signed([code, username, version, elapsedMs], event.by);
    case 'session-set':
      return signed([code, username, version, elapsedMs, event.digest, event.endMs], event.by);
    case 'rounds-forgotten':
      return [code, username, version, elapsedMs, event.beforeMs];
    case 'rounds-archived':
      return [code, username, version, elapsedMs, idsByProduct(event.rounds), ...markToTuple(event.mark)];
    case 'rounds-restored':
      return [code, username, version, elapsedMs, event.images];
    default:
      return unreachable(event);
  }
}

function markToTuple(mark: ArchiveMark | undefined): Tuple[] {
  return mark === undefined ? [] : [[mark.epoch, mark.sequence, mark.index]];
}

function tupleToMark(tuple: Read): ArchiveMark | undefined {
  return tuple === undefined ? undefined : { epoch: tuple[0], sequence: tuple[1], index: tuple[2] };
}

/** Appends the operator; if there is none, the array is returned unchanged. */
function signed(tuple: Tuple, by: Operator | undefined): Tuple {
  return by === undefined ? tuple : [...tuple, [by.name, by.address]];
}

/** Appends the operator and the approver. */
function approved(tuple: Tuple, by: Operator | undefined, approvedBy: Operator | undefined): Tuple {
  if (approvedBy === undefined) return signed(tuple, by);
  return [...tuple, by === undefined ? null : [by.name, by.address], [approvedBy.name, approvedBy.address]];
}

/** Groups consecutive rounds of the same product into one array: the product, then the round ids. */
function idsByProduct(rounds: readonly RoundName[]): string[][] {
  const arrays: string[][] = [];
  for (const { productId, roundId } of rounds) {
    const last = arrays.at(-1);
    if (last?.[0] === productId) last.push(roundId);
    else arrays.push([productId, roundId]);
  }
  return arrays;
}

function changeToTuple(change: Change): Tuple {
  const code = CHANGE[change.type];
  switch (change.type) {
    case 'bet-placed': {
      const { id, after, roundId, stake, gameCode, playInfo } = change;
      return [code, id, after, flagsOf(change), roundId, stake, gameCode, playInfo];
    }
    case 'bet-confirmed':
      return [code, change.id, change.after, flagsOf(change)];
    case 'bet-confirmed-anew':
      return [code, change.id, change.after, flagsOf(change), change.stake];
    case 'bet-settled':
      return [code, change.id, change.after, flagsOf(change), change.payout, change.turnOver];
    case 'single-state-settled': {
      const { id, after, roundId, stake, payout, turnOver, gameCode, playInfo } = change;
      return [code, id, after, flagsOf(change), roundId, stake, payout, turnOver, gameCode, playInfo];
    }
    case 'round-settled': {
      const { id, after, roundId, payout, turnOver, bets, gameCode, playInfo } = change;
      return [code, id, after, flagsOf(change), roundId, payout, turnOver, bets, gameCode, playInfo];
    }
    case 'bet-adjusted':
      return [code, change.id, change.after, change.stake];
    case 'bet-voided':
      return [code, change.id, change.after, change.takenBack];
    case 'round-voided':
      return [code, change.id, change.after, change.roundId, change.bets];
    case 'bet-cancelled':
      return [code, change.id, change.after, flagsOf(change)];
    case 'round-cancelled':
      return [code, change.id, change.after, flagsOf(change), change.roundId, change.markMs, change.bets];
    case 'round-marked':
      return [code, change.roundId, change.after, change.markMs, ...(change.touches ? [flagsOf(change)] : [])];
    case 'cancel-remembered':
      return [code, change.id, change.after, change.roundId];
    case 'tip-credited':
      return [code, change.id, change.after, change.roundId, change.amount];
    case 'tip-placed':
      return [code, change.id, change.after, flagsOf(change), change.roundId, change.amount];
    case 'tip-cancelled':
      return [code, change.id, change.after];
    case 'reward-voided':
      return [code, change.id, change.after, ...(change.keepsRequest ? [flagsOf(change)] : [])];
    case 'reward-credited': {
      const { id, after, roundId, payout, stake, gameCode, playInfo } = change;
      return [code, id, after, roundId, payout, stake, gameCode, playInfo];
    }
    case 'balance-debited':
    case 'balance-credited':
      return [code, change.id, change.after, change.amount];
    case 'bet-rolled-back':
      return [code, change.id, change.after, flagsOf(change), change.takenBack];
    case 'round-rolled-back':
      return [code, change.id, change.after, flagsOf(change), change.roundId, change.bets];
    case 'rollback-repeated':
      return [code, change.id, change.after, flagsOf(change)];
    case 'single-state-resettled': {
      const { id, after, stake, held, payout, turnOver } = change;
      return [code, id, after, flagsOf(change), stake, held, payout, turnOver];
    }
    case 'message-remembered': {
      const { roundId, after, hash, answerBefore, answerAfter } = change;
      return [code, roundId, after, hash, answerBefore, answerAfter];
    }
    default:
      return unreachable(change);
  }
}

// The entry's checksum has been verified, so the values are those that were written and need no further checks.
// biome-ignore lint/suspicious/noExplicitAny: positions have no names until they are read
type Read = any;

export function tupleToEvent(tuple: Read, batchTimeMs: number): Event {
  const code = tuple[0];
  const stamp = { username: tuple[1], version: tuple[2], timeMs: batchTimeMs + tuple[3] };
  switch (code) {
    case EVENT['player-created']:
      return { type: 'player-created', ...stamp, currency: tuple[4], by: signer(tuple[5]) };
    case EVENT['player-imported']: {
      const [, , , , currency, id, balance, by] = tuple;
      return { type: 'player-imported', ...stamp, currency, id, balance, by: signer(by) };
    }
    case EVENT.deposited:
      return { type: 'deposited', ...stamp, ...movement(tuple), by: signer(tuple[8]), ...approver(tuple[9]) };
    case EVENT.withdrawn:
      return { type: 'withdrawn', ...stamp, ...movement(tuple), by: signer(tuple[8]), ...approver(tuple[9]) };
    case EVENT.corrected:
      return {
        type: 'corrected',
        ...stamp,
        ...movement(tuple),
        reason: tuple[8],
        by: signer(tuple[9]),
        ...approver(tuple[10]),
      };
    case EVENT['money-requested']: {
      const [, , , , id, amount, expiresMs, allowNegativeBalance, reason, by] = tuple;
      const wish = { id, amount, expiresMs, allowNegativeBalance, reason };
      return { type: 'money-requested', ...stamp, ...wish, by: signer(by) };
    }
    case EVENT['request-closed']:
      return { type: 'request-closed', ...stamp, id: tuple[4], outcome: tuple[5], by: signer(tuple[6]) };
    case EVENT['player-blocked']:
      return { type: 'player-blocked', ...stamp, by: signer(tuple[4]) };
    case EVENT['player-unblocked']:
      return { type: 'player-unblocked', ...stamp, by: signer(tuple[4]) };
    case EVENT['session-set']:
      return { type: 'session-set', ...stamp, digest: tuple[4], endMs: tuple[5], by: signer(tuple[6]) };
    case EVENT['session-ended']:
      return { type: 'session-ended', ...stamp, by: signer(tuple[4]) };
    case EVENT['rounds-forgotten']:
      return { type: 'rounds-forgotten', ...stamp, beforeMs: tuple[4] };
    case EVENT['rounds-archived']: {
      const rounds = tuple[4].flatMap(([productId, ...ids]: string[]) =>
        ids.map((roundId) => ({ productId, roundId })),
      );
      return { type: 'rounds-archived', ...stamp, rounds, mark: tupleToMark(tuple[5]) };
    }
    case EVENT['rounds-restored']:
      return { type: 'rounds-restored', ...stamp, images: tuple[4] };
    case EVENT['callback-applied']:
    case CALLBACK_THAT_REMEMBERS:
      return callback(tuple, stamp);
    default:
      throw new UnknownFormatError('the entry', `event type ${code}`);
  }
}

function movement(tuple: Read) {
  return { id: tuple[4], amount: tuple[5], before: tuple[6], after: tuple[7] };
}

function approver(pair: Read): { readonly approvedBy?: Operator } {
  const approvedBy = signer(pair);
  return approvedBy === undefined ? {} : { approvedBy };
}

function signer(pair: Read): Operator | undefined {
  return pair === undefined || pair === null ? undefined : { name: pair[0], address: pair[1] };
}

function callback(tuple: Read, stamp: { username: string; version: number; timeMs: number }): CallbackApplied {
  const endpoint = ENDPOINT_BY_NUMBER.get(tuple[4]);
  if (endpoint === undefined) {
    throw new UnknownFormatError('the entry', `endpoint ${tuple[4]}`);
  }
  return {
    type: 'callback-applied',
    username: stamp.username,
    version: stamp.version,
    timeMs: stamp.timeMs,
    endpoint,
    requestId: tuple[5],
    productId: tuple[6],
    timestampMillis: tuple[7],
    before: tuple[8],
    remembers: tuple[0] === CALLBACK_THAT_REMEMBERS,
    changes: tuple[9].map(tupleToChange),
  };
}

function has(flags: number, flag: number): boolean {
  return (flags & flag) !== 0;
}

function statusOf(flags: number): OpenState {
  return has(flags, WAITING) ? 'WAITING' : 'OPEN';
}

function stateOf(flags: number): CancelState {
  return has(flags, REJECT) ? 'REJECT' : 'REFUND';
}

function featuresOf(flags: number) {
  return { isFeature: has(flags, FEATURE), isFeatureBuy: has(flags, FEATURE_BUY) };
}

function settledOf(flags: number) {
  return { skip: has(flags, SKIP), endsRound: has(flags, ENDS_ROUND), keepsRequest: has(flags, KEEPS_REQUEST) };
}

function tupleToChange(tuple: Read): Change {
  const code = tuple[0];
  const id = tuple[1];
  const after = tuple[2];
  // In a change without flags, this position holds a different field, which must not be read as flags.
  const flags = tuple[3];
  switch (code) {
    case CHANGE['bet-placed']:
      return {
        type: 'bet-placed',
        id,
        roundId: tuple[4],
        status: statusOf(flags),
        skip: has(flags, SKIP),
        stake: tuple[5],
        after,
        gameCode: tuple[6],
        playInfo: tuple[7],
        isFeature: has(flags, FEATURE),
        isFeatureBuy: has(flags, FEATURE_BUY),
      };
    case CHANGE['bet-confirmed']:
      return {
        type: 'bet-confirmed',
        id,
        status: statusOf(flags),
        skip: has(flags, SKIP),
        takes: has(flags, TAKES),
        after,
      };
    case CHANGE['bet-confirmed-anew']:
      return { type: 'bet-confirmed-anew', id, skip: has(flags, SKIP), stake: tuple[4], after };
    case CHANGE['bet-settled']: {
      const [, , , , payout, turnOver] = tuple;
      return {
        type: 'bet-settled',
        id,
        payout,
        skip: has(flags, SKIP),
        endsRound: has(flags, ENDS_ROUND),
        turnOver,
        keepsRequest: has(flags, KEEPS_REQUEST),
        after,
      };
    }
    case CHANGE['single-state-settled']: {
      const [, , , , roundId, stake, payout, turnOver, gameCode, playInfo] = tuple;
      const facts = { ...settledOf(flags), ...featuresOf(flags) };
      return {
        type: 'single-state-settled',
        id,
        roundId,
        stake,
        payout,
        turnOver,
        after,
        gameCode,
        playInfo,
        ...facts,
      };
    }
    case CHANGE['round-settled']: {
      const [, , , , roundId, payout, turnOver, bets, gameCode, playInfo] = tuple;
      const facts = settledOf(flags);
      return { type: 'round-settled', id, roundId, payout, turnOver, bets, after, gameCode, playInfo, ...facts };
    }
    case CHANGE['bet-adjusted']:
      return { type: 'bet-adjusted', id, stake: tuple[3], after };
    case CHANGE['bet-voided']:
      return { type: 'bet-voided', id, takenBack: tuple[3], after };
    case CHANGE['round-voided']:
      return { type: 'round-voided', id, roundId: tuple[3], bets: tuple[4], after };
    case CHANGE['bet-cancelled']:
      return { type: 'bet-cancelled', id, state: stateOf(flags), keepsRequest: has(flags, KEEPS_REQUEST), after };
    case CHANGE['round-cancelled']: {
      const [, , , , roundId, markMs, bets] = tuple;
      const keepsRequest = has(flags, KEEPS_REQUEST);
      return { type: 'round-cancelled', id, roundId, state: stateOf(flags), markMs, bets, keepsRequest, after };
    }
    case CHANGE['round-marked']:
      return { type: 'round-marked', roundId: id, markMs: tuple[3], touches: has(tuple[4], TOUCHES), after };
    case CHANGE['cancel-remembered']:
      return { type: 'cancel-remembered', id, roundId: tuple[3], after };
    case CHANGE['tip-credited']:
      return { type: 'tip-credited', id, roundId: tuple[3], amount: tuple[4], after };
    case CHANGE['tip-placed']:
      return { type: 'tip-placed', id, roundId: tuple[4], skip: has(flags, SKIP), amount: tuple[5], after };
    case CHANGE['tip-cancelled']:
      return { type: 'tip-cancelled', id, after };
    case CHANGE['reward-credited']: {
      const [, , , roundId, payout, stake, gameCode, playInfo] = tuple;
      return { type: 'reward-credited', id, roundId, payout, stake, after, gameCode, playInfo };
    }
    case CHANGE['reward-voided']:
      return { type: 'reward-voided', id, keepsRequest: has(flags, KEEPS_REQUEST), after };
    case CHANGE['balance-debited']:
      return { type: 'balance-debited', id, amount: tuple[3], after };
    case CHANGE['balance-credited']:
      return { type: 'balance-credited', id, amount: tuple[3], after };
    case CHANGE['bet-rolled-back']:
      return { type: 'bet-rolled-back', id, skip: has(flags, SKIP), takenBack: tuple[4], after };
    case CHANGE['round-rolled-back']: {
      const [, , , , roundId, bets] = tuple;
      return { type: 'round-rolled-back', id, roundId, skip: has(flags, SKIP), bets, after };
    }
    case CHANGE['rollback-repeated']:
      return { type: 'rollback-repeated', id, byRound: has(flags, BY_ROUND), after };
    case CHANGE['single-state-resettled']: {
      const [, , , , stake, held, payout, turnOver] = tuple;
      const facts = { skip: has(flags, SKIP), endsRound: has(flags, ENDS_ROUND) };
      return { type: 'single-state-resettled', id, stake, held, payout, turnOver, after, ...facts };
    }
    case CHANGE['message-remembered']: {
      const [, roundId, , hash, answerBefore, answerAfter] = tuple;
      return { type: 'message-remembered', roundId, hash, answerBefore, answerAfter, after };
    }
    default:
      throw new UnknownFormatError('the entry', `change type ${code}`);
  }
}
