import assert from 'node:assert/strict';
import type { FeedEvent } from '../../src/feed/event.js';
import type { Feed, FeedAnswer, FeedRequest, LostEntries } from '../../src/feed/request.js';
import { Feeds } from '../../src/tools/feed/feeds.js';
import { commands } from '../support/domain.js';
import { WrittenStore } from '../tools/written-store.js';
import { MemoryRecords } from './memory-records.js';

const { place } = commands;
export const PLAYERS = ['ann', 'bob', 'cat', 'dan', 'eve', 'kim'];
const NEVER = new AbortController().signal;

export interface Page {
  readonly events: readonly FeedEvent[];
  readonly next: string;
  readonly lost?: readonly LostEntries[];
}

/** Feeds on a store in memory. `onPause` runs instead of each wait. */
export class FeedsUnderTest {
  readonly records = new MemoryRecords();
  readonly feeds: Feeds;
  nowMs = 0;
  onPause: () => Promise<void> = async () => {};

  constructor(store: WrittenStore) {
    this.feeds = new Feeds({
      reader: store.reader,
      records: this.records,
      now: () => this.nowMs,
      monotonicMs: () => this.nowMs,
      newId: () => `id-${++this.nowMs}`,
      pause: async (ms) => {
        this.nowMs += ms;
        await this.onPause();
      },
    });
  }

  ask(request: FeedRequest): Promise<FeedAnswer> {
    return this.feeds.answer(request, NEVER);
  }

  async create(name: string, from = 'start', filter = {}): Promise<Feed> {
    const answer = await this.ask({ type: 'create', name, from, filter });
    assert.ok(answer.type === 'feed', JSON.stringify(answer));
    return answer.feed;
  }

  async read(name: string, after?: string, limit = 1000, waitMs = 0): Promise<Page> {
    const answer = await this.ask({ type: 'read', name, after, limit, waitMs });
    assert.ok(answer.type === 'page', JSON.stringify(answer));
    return JSON.parse(answer.json);
  }

  async readAll(name: string, limit: number): Promise<FeedEvent[]> {
    const all: FeedEvent[] = [];
    for (let after: string | undefined; ; ) {
      const { events, next } = await this.read(name, after, limit);
      if (events.length === 0) return all;
      assert.ok(events.length <= limit);
      all.push(...events);
      after = next;
    }
  }

  async acknowledge(name: string, position: string): Promise<Feed> {
    const answer = await this.ask({ type: 'acknowledge', name, position });
    assert.ok(answer.type === 'feed', JSON.stringify(answer));
    return answer.feed;
  }
}

/** Six players on three shards. Each entry has the events of several players, and each message two bets. */
export async function playedStore(rounds = 20): Promise<WrittenStore> {
  const store = new WrittenStore(3);
  await store.takeOver();
  for (const username of PLAYERS) await store.fund(username, 1_000_000);
  await play(store, rounds);
  return store;
}

export async function play(store: WrittenStore, rounds: number, first = 0): Promise<void> {
  for (let i = first; i < first + rounds; i++) {
    const bets = [
      { id: `a${i}`, roundId: `r${i}` },
      { id: `b${i}`, roundId: `r${i}` },
    ];
    await store.run(...PLAYERS.map((username) => place(bets, { username })));
  }
}
