import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import type { FeedEvent } from '../../src/feed/event.js';
import { compareLsn, type Lsn } from '../../src/ports/lsn.js';
import { balanceOf } from './client.js';

const ID = /^(\d+)-(\d+)-(\d+)-(\d+)(?:-([0-9a-f]{8}))?$/;
/** Decimals of the sums, at least as many as a currency can have. */
const DECIMALS = 8;

/** The place of an event in the log, which its id names. */
export interface EventPlace {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly index: number;
  /** The restore after which the event happened. */
  readonly timeline: string | undefined;
}

/** The part of an event that the books keep. */
interface Kept {
  readonly place: EventPlace;
  readonly player: string;
  readonly requestId: string | null;
  readonly version: number;
  readonly before: string | null;
  readonly after: string | null;
  readonly checksum: number;
}

/** A change of a balance: all events of one message. */
export interface Move {
  readonly player: string;
  readonly version: number;
  readonly requestId: string | null;
  readonly before: bigint;
  after: bigint;
  /** Number of events. */
  events: number;
}

/**
 * The books of a consumer of the event feed, which knows a repeated event by its id. The checks rely only on what the
 * events say: order, balances and ids.
 */
export class ConsumerBooks {
  /** Events by id, in the order of their first delivery. */
  private readonly kept = new Map<string, Kept>();
  /** Number of deliveries of events that had been delivered before. */
  repeats = 0;

  get count(): number {
    return this.kept.size;
  }

  take(event: FeedEvent): void {
    const { id, subject: player, data } = event;
    const checksum = crc32(JSON.stringify(event));
    const known = this.kept.get(id);
    if (known !== undefined) {
      assert.equal(checksum, known.checksum, `${id} was another event at its first delivery`);
      this.repeats++;
      return;
    }
    const { requestId, version, balanceBefore: before, balanceAfter: after } = data;
    this.kept.set(id, { place: placeOf(id), player, requestId, version, before, after, checksum });
  }

  /** Removes the events that a restore has made void. Returns their number. */
  remove(isVoid: (place: EventPlace) => boolean): number {
    let removed = 0;
    for (const [id, { place }] of this.kept) if (isVoid(place) && this.kept.delete(id)) removed++;
    return removed;
  }

  /**
   * The changes of all balances, in the order of delivery. Fails if the events of a player are not in the order of the
   * log, or if one of them does not begin with the balance that the one before it has left.
   */
  moves(): Move[] {
    const newest = new Map<string, Kept>();
    const balances = new Map<string, string>();
    const moves: Move[] = [];
    const open = new Map<string, Move>();
    for (const [id, one] of this.kept) {
      const { player, version, requestId, before, after } = one;
      const last = newest.get(player);
      assert.ok(last === undefined || isAfter(one, last), `${id} of ${player} comes in the order of the log`);
      newest.set(player, one);
      if (before === null || after === null) continue;
      assert.equal(before, balances.get(player) ?? '0', `${id} of ${player} begins with the balance before it`);
      balances.set(player, after);
      const move = open.get(player);
      if (move?.version === version) {
        move.after = unitsOf(after);
        move.events++;
      } else {
        const begun = { player, version, requestId, before: unitsOf(before), after: unitsOf(after), events: 1 };
        open.set(player, begun);
        moves.push(begun);
      }
    }
    return moves;
  }
}

/** The sum of all moves of each player. */
export function sumsOf(moves: readonly Move[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { player, before, after } of moves) sums.set(player, (sums.get(player) ?? 0n) + after - before);
  return sums;
}

/**
 * Asserts that every event of each player came, in order: the moves are those of the log, each of these requests has
 * made one, and the last balance is the store's.
 */
export async function assertBooks(
  books: ConsumerBooks,
  { players, requestIds, adminUrl }: { players: readonly string[]; requestIds: readonly string[]; adminUrl: string },
): Promise<void> {
  const moves = books.moves();
  const requests = moves.flatMap(({ requestId }) => requestId ?? []);
  const distinct = new Set(requests);
  assert.equal(distinct.size, requests.length, 'no request has moved a balance twice');
  assert.deepEqual(
    requestIds.filter((id) => !distinct.has(id)),
    [],
    'each request has moved a balance',
  );
  const sums = sumsOf(moves);
  for (const player of players) {
    const balance = await balanceOf(adminUrl, player);
    assert.equal(sums.get(player), unitsOf(String(balance)), `the balance of ${player}`);
  }
}

/** An amount in decimal text as a whole number of units of 10^-8. */
export function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}

export function placeOf(id: string): EventPlace {
  const [, shard, epoch, sequence, index, timeline] = ID.exec(id) ?? [];
  assert.ok(index !== undefined, `${id} names a place in the log`);
  const lsn = { epoch: Number(epoch), sequence: Number(sequence) };
  return { shard: Number(shard), lsn, index: Number(index), timeline };
}

function isAfter(one: Kept, other: Kept): boolean {
  const order = compareLsn(one.place.lsn, other.place.lsn) || one.place.index - other.place.index;
  return one.place.shard === other.place.shard && order > 0 && one.version >= other.version;
}
