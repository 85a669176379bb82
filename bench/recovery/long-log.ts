import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { takeOver } from '../../src/log/take-over.js';
import type { EncodedEntry, Head } from '../../src/ports/wal.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import type { StoreMeta } from '../../src/store/meta.js';
import type { Store } from '../../src/store/store.js';
import { shardOf } from '../../src/threads/placement.js';
import type { Event } from '../../src/wallet/event.js';

const EVENTS_PER_ENTRY = 64;
const ENTRIES_PER_APPEND = 64;
const OPENING_UNITS = 10_000_000_000;
const STAKE_UNITS = 105_000;

/**
 * Fills an empty store with players who each have two open bets in separate rounds, as after a busy evening. IDs have
 * the length that platforms use. Resolves to the number of events.
 */
export async function writeLongLog(store: Store, meta: StoreMeta, players: number): Promise<number> {
  const format = new EntryCodec(meta.storeId);
  const shards = Array.from({ length: meta.shards }, (_, shard) => shard);
  const fences = await takeOver(shards, {
    wal: store.wal,
    format,
    clock: systemClock,
    log: silentLogger,
    owner: { host: 'bench', pid: process.pid, startedMs: 0 },
    newNonce: () => randomBytes(8).toString('hex'),
    delay: async () => {},
    attemptsMax: 1,
  });
  const logs = fences.map(({ shard, entry }) => new LogWriter(shard, entry.head, format, store));
  let events = 0;
  for (const round of [importOf, firstBetOf, secondBetOf]) {
    for (let n = 0; n < players; n++) {
      const username = `player-${String(n).padStart(10, '0')}`;
      await (logs[shardOf(username, meta.shards)] as LogWriter).add(round(username, n));
      events++;
    }
  }
  for (const log of logs) await log.flush();
  return events;
}

class LogWriter {
  private waiting: Event[] = [];
  private sealed: EncodedEntry[] = [];
  private newest: Head;

  constructor(
    private readonly shard: number,
    private head: Head,
    private readonly format: EntryCodec,
    private readonly store: Store,
  ) {
    this.newest = head;
  }

  async add(event: Event): Promise<void> {
    this.waiting.push(event);
    if (this.waiting.length === EVENTS_PER_ENTRY) this.seal();
    if (this.sealed.length === ENTRIES_PER_APPEND) await this.append();
  }

  async flush(): Promise<void> {
    if (this.waiting.length > 0) this.seal();
    if (this.sealed.length > 0) await this.append();
  }

  private seal(): void {
    const batch = this.format.beginBatch(this.waiting[0]?.timeMs ?? 0);
    for (const event of this.waiting) batch.add(event);
    this.waiting = [];
    const { epoch, sequence } = this.newest.lsn;
    const header = { shard: this.shard, lsn: { epoch, sequence: sequence + 1 }, nonce: this.newest.nonce };
    const entry = batch.seal({ ...header, previous: this.newest });
    this.sealed.push(entry);
    this.newest = entry.head;
  }

  private async append(): Promise<void> {
    const [outcome] = await this.store.wal.append([{ shard: this.shard, expected: this.head, entries: this.sealed }]);
    if (outcome?.type !== 'ok') throw new Error(`the long log could not be written: ${JSON.stringify(outcome)}`);
    this.head = this.newest;
    this.sealed = [];
  }
}

const stamp = (username: string, version: number) => ({ username, version, timeMs: Date.now() });

function importOf(username: string): Event {
  return { type: 'player-imported', ...stamp(username, 1), currency: 'THB', id: 'opening', balance: OPENING_UNITS };
}

function firstBetOf(username: string, n: number): Event {
  return betOf(username, 2, `a${n}`, OPENING_UNITS);
}

function secondBetOf(username: string, n: number): Event {
  return betOf(username, 3, `b${n}`, OPENING_UNITS - STAKE_UNITS);
}

function betOf(username: string, version: number, name: string, before: number): Event {
  const id = `txn1-0d9c-4b1e-9a57-${name.padStart(16, '0')}`;
  const roundId = `rnd1-0d9c-4b1e-9a57-${name.padStart(16, '0')}`;
  const game = { gameCode: 'GAME-1', playInfo: 'player', isFeature: false, isFeatureBuy: false };
  const bet = { type: 'bet-placed', id, roundId, status: 'OPEN', skip: false, stake: STAKE_UNITS } as const;
  return {
    type: 'callback-applied',
    ...stamp(username, version),
    endpoint: 'placeBets',
    requestId: `req1-0d9c-4b1e-9a57-${name.padStart(16, '0')}`,
    productId: 'PRODUCT-1',
    timestampMillis: Date.now(),
    before,
    remembers: true,
    changes: [{ ...bet, ...game, after: before - STAKE_UNITS }],
  };
}
