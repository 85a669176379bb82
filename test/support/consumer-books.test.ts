import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { feedEventsOf } from '../../src/feed/events-of.js';
import { ConsumerBooks, sumsOf, unitsOf } from './consumer-books.js';
import { commands, Domain, entriesOf, STORE_ID } from './domain.js';

/** Two players with a deposit, three bets in one message, and a settlement each. */
function playedEvents(): FeedEvent[] {
  const domain = new Domain();
  for (const username of ['ann', 'bob']) {
    domain.fund(username, 1000);
    domain.run(commands.place([{ id: 'a' }, { id: 'b' }, { id: 'c' }], { username }));
    domain.run(commands.settle([{ id: 'a' }], { username }));
  }
  const source = { storeId: STORE_ID, currencyOf: () => 'THB', scaleOf: () => 4 };
  return [...entriesOf(domain.events, 2)].flatMap((entry) => feedEventsOf(entry, source).map(({ event }) => event));
}

function movesOf(events: readonly FeedEvent[]) {
  const books = new ConsumerBooks();
  for (const event of events) books.take(event);
  return { books, moves: books.moves() };
}

const events = playedEvents();
const last = events.at(-1) as FeedEvent;

describe('the books of a consumer', () => {
  test('repeated pages change nothing', () => {
    const { moves } = movesOf(events);
    const { books, moves: again } = movesOf([...events.slice(0, 5), ...events.slice(2), ...events]);
    assert.deepEqual(again, moves);
    assert.deepEqual([books.count, books.repeats], [events.length, 3 + events.length]);
    const sums = sumsOf(moves);
    assert.deepEqual([sums.get('ann'), sums.get('bob')], [unitsOf('0.0985'), unitsOf('0.0985')]);
  });

  test('a dropped event is found, unless it is the newest', () => {
    for (const [index, { subject }] of events.entries()) {
      if (!events.slice(index + 1).some((later) => later.subject === subject)) continue;
      assert.throws(() => movesOf(events.toSpliced(index, 1)), /begins with the balance before it/, events[index]?.id);
    }
  });

  test('two events of a player in the wrong order are found', () => {
    for (let index = 1; index < events.length; index++) {
      const [first, second] = events.slice(index - 1) as [FeedEvent, FeedEvent];
      if (first.subject !== second.subject) continue;
      assert.throws(() => movesOf(events.toSpliced(index - 1, 2, second, first)), first.id);
    }
  });

  test('an event that comes again under another id is found', () => {
    assert.throws(() => movesOf([...events, { ...last, id: '0-1-999-0' }]), /begins with the balance before it/);
  });

  test('another event under the same id is found', () => {
    assert.throws(() => movesOf([...events, { ...last, time: '2026-01-01T00:00:00.000Z' }]), /was another event/);
  });
});

test('amounts in decimal text become whole numbers of units', () => {
  const texts = ['0', '1.5', '-0.25', '-3', '12345678901234.00000001'];
  assert.deepEqual(texts.map(unitsOf), [0n, 150000000n, -25000000n, -300000000n, 1234567890123400000001n]);
});
