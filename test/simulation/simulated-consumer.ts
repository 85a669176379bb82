import assert from 'node:assert/strict';
import { delay } from '../../src/base/timers.js';
import type { FeedEvent } from '../../src/feed/event.js';
import { feedEventsOf } from '../../src/feed/events-of.js';
import type { FeedAnswer, FeedRequest } from '../../src/feed/request.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { formatUnits } from '../../src/wallet/amount.js';
import { ConsumerBooks, sumsOf, unitsOf } from '../support/consumer-books.js';
import type { Random } from './random.js';
import type { World } from './world.js';

const NAME = 'crm';
const SCALE = 4;
/** Small pages end within an entry. */
const LIMITS = [3, 20, 1000];
const WAIT_MS = 500;
const GIVE_UP_MS = 10_000;
const RETRY_MS = 50;
/** Probability that the consumer ends after a page and before its acknowledgement. */
const CRASH = 0.1;
const NEVER = new AbortController().signal;

/** A page of events. */
interface Page {
  readonly events: readonly FeedEvent[];
  readonly next: string;
}

/**
 * A consumer of all events, which reads and acknowledges pages on nodes that live and reach the store, and sometimes ends
 * in between.
 */
export class SimulatedConsumer {
  hasBegun = false;
  /** True if the log has no more events, after a call of `finish`. */
  isDone = false;
  private isFinishing = false;
  private readonly books = new ConsumerBooks();

  constructor(
    private readonly world: World,
    private readonly random: Random,
  ) {}

  /** Reads until `isDone`. Rejects if an answer is wrong. */
  async run(): Promise<void> {
    await this.askWithRetry({ type: 'create', name: NAME, filter: {}, from: 'start' });
    this.hasBegun = true;
    /** The position that a running consumer remembers. */
    let after: string | undefined;
    while (!this.isDone) {
      const isLast = this.isFinishing;
      const limit = this.random.pick(LIMITS);
      const answer = await this.askWithRetry({ type: 'read', name: NAME, after, limit, waitMs: WAIT_MS });
      assert.ok(answer.type === 'page', JSON.stringify(answer));
      const { events, next } = JSON.parse(answer.json) as Page;
      for (const event of events) this.books.take(event);
      this.isDone = isLast && events.length === 0;
      after = next;
      if (this.random.chance(CRASH)) after = undefined;
      else await this.askWithRetry({ type: 'acknowledge', name: NAME, position: next });
    }
  }

  /** The last entry is in the log. */
  finish(): void {
    this.isFinishing = true;
  }

  /** Asserts that the consumer has every event of the logs, and no other, and that they add up to the balances. */
  check(balances: ReadonlyMap<string, number>): void {
    const { books, world } = this;
    const moves = books.moves();
    const { count } = books;
    let expected = 0;
    for (const event of eventsOf(world)) {
      books.take(event);
      assert.equal(books.count, count, `the consumer lacks ${event.id} of ${event.subject}`);
      expected++;
    }
    assert.equal(expected, count, 'the consumer has events that are in no log');
    const sums = sumsOf(moves);
    for (const [username, balance] of balances) {
      const sum = sums.get(username) ?? 0n;
      assert.equal(sum, unitsOf(formatUnits(balance, SCALE)), `the events of ${username} add up to the balance`);
    }
  }

  private async askWithRetry(request: FeedRequest): Promise<FeedAnswer> {
    for (;;) {
      const answer = await this.ask(request);
      if (answer !== undefined && answer.type !== 'failed') return answer;
      await delay(this.world.time, RETRY_MS);
    }
  }

  /** Asks one of the nodes. Undefined if it does not answer. */
  private ask(request: FeedRequest): Promise<FeedAnswer | undefined> {
    const { time, living } = this.world;
    if (living.length === 0) return Promise.resolve(undefined);
    const { process, feeds } = this.random.pick(living);
    return new Promise((resolve) => {
      const stopWaiting = time.after(GIVE_UP_MS, () => resolve(undefined));
      const answered = (answer: FeedAnswer) => {
        stopWaiting();
        resolve(answer);
      };
      process.here(
        () => void feeds?.feeds.answer(request, NEVER).then((answer) => process.here(() => answered(answer))),
      );
    });
  }
}

/** The events of all entries that have not been lost. */
function* eventsOf({ store, settings }: World): Iterable<FeedEvent> {
  const codec = new EntryCodec(store.storeId);
  const source = { storeId: store.storeId, currencyOf: () => 'THB', scaleOf: () => SCALE };
  for (let shard = 0; shard < settings.shards; shard++) {
    for (const { bytes } of store.history(shard)) {
      for (const { event } of feedEventsOf(codec.decode(bytes), source)) yield event;
    }
  }
}
