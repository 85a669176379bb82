import assert from 'node:assert/strict';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { shardOf } from '../../src/threads/placement.js';
import type { World } from './world.js';

/** Stake in units of the log; a unit is a ten-thousandth. */
const BET = 10_000;
const BALANCE = 100_000_000 * BET;
/** Number of bets per balance request. */
const ASKED_EVERY = 4;
/** Delay after which a platform that got no answer retries, on any node. */
const RETRY_MS = 50;
const RETRIES_MAX = 2000;
const CLOSED_MS = 100;

/** Players who bet and never win. Keeps a naive account of all acknowledged answers. */
export class Bettors {
  /** First answers by bet ID. */
  readonly reported = new Map<string, { readonly before: number; readonly after: number }>();
  /** Milliseconds from each bet's first attempt to its answer. */
  readonly tookMs: number[] = [];
  /** Number of bets without an answer. */
  unanswered = 0;
  /** Attempts that were answered with something other than success, by kind. */
  readonly failures = new Map<string, number>();
  /** Number of balance requests that were answered. */
  asked = 0;
  /** Lowest balance answered so far, by player. */
  private readonly lowest = new Map<string, number>();
  private bets = 0;

  constructor(
    private readonly world: World,
    private readonly count: number,
  ) {}

  /** Imports the opening balances. */
  async fund(): Promise<void> {
    const { time, settings, living } = this.world;
    let funded = 0;
    for (let player = 0; player < this.count; player++) {
      const username = nameOf(player);
      const command = { type: 'import-player', id: 'fund', username, currency: 'THB', balance: BALANCE } as const;
      const [node] = living;
      node?.cluster.router.execute(shardOf(username, settings.shards), command, Number.POSITIVE_INFINITY, {
        reply: ({ type }) => {
          assert.equal(type, 'accepted');
          funded++;
        },
      });
    }
    await time.until('all players have their money', () => funded === this.count);
  }

  /** Places `perSecond` bets for a while, using the nodes in turn. */
  bet(perSecond: number, forMs: number): void {
    const { time } = this.world;
    const untilMs = time.nowMs + forMs;
    const next = () => {
      if (time.nowMs >= untilMs) return;
      this.betOnce();
      time.after(1000 / perSecond, next);
    };
    next();
  }

  betOnce(): void {
    const { random, time } = this.world;
    const id = `b${this.bets++}`;
    const username = nameOf(random.below(this.count));
    const text = JSON.stringify({
      id: `r-${id}`,
      timestampMillis: 1,
      productId: 'P',
      currency: 'THB',
      username,
      txns: [{ id, status: 'OPEN', roundId: `o-${id}`, betAmount: 1, gameCode: 'g', playInfo: 'p' }],
    });
    this.unanswered++;
    this.attempt(id, username, text, time.nowMs, 0);
    if (this.bets % ASKED_EVERY === 0) this.ask(username);
  }

  /** Checks that each answered bet is in the log exactly once, and that the balances match the totals of the logs. */
  check(): void {
    const { store, settings, living } = this.world;
    const codec = new EntryCodec(store.storeId);
    const placed = new Map<string, number>();
    const ids = new Set<string>();
    for (let shard = 0; shard < settings.shards; shard++) {
      for (const { bytes } of store.history(shard)) {
        for (const event of codec.decode(bytes).events) {
          if (event.type !== 'callback-applied') continue;
          for (const { id } of event.changes as readonly { readonly id: string }[]) {
            assert.ok(!ids.has(id), `${id} is in the log twice`);
            ids.add(id);
          }
          placed.set(event.username, (placed.get(event.username) ?? 0) + 1);
        }
      }
    }
    for (const id of this.reported.keys()) assert.ok(ids.has(id), `${id} was acknowledged, and is not in the log`);
    for (let player = 0; player < this.count; player++) {
      const username = nameOf(player);
      const shard = shardOf(username, settings.shards);
      const owner = living.find((node) => node.serving.includes(shard));
      const balance = BALANCE - BET * (placed.get(username) ?? 0);
      assert.equal(owner?.wallet(shard, username)?.balance, balance, username);
      const lowest = this.lowest.get(username) ?? BALANCE;
      assert.ok(lowest >= balance, `${username} got the balance ${lowest}, which the log never had`);
    }
  }

  /**
   * Requests a balance. In this test, balances only fall. A balance that is higher than an earlier one therefore comes
   * from a former owner.
   */
  private ask(username: string): void {
    const heard = this.lowest.get(username) ?? BALANCE;
    const text = JSON.stringify({ id: 'q', timestampMillis: 1, productId: 'P', currency: 'THB', username });
    this.world.send('checkBalance', text, (answer) => {
      if (answer?.type !== 'accepted') return;
      this.asked++;
      assert.ok(answer.after <= heard, `${username} got the balance ${answer.after} after ${heard}`);
      this.noteBalance(username, answer.after);
    });
  }

  private noteBalance(username: string, balance: number): void {
    this.lowest.set(username, Math.min(balance, this.lowest.get(username) ?? BALANCE));
  }

  private attempt(id: string, username: string, text: string, sinceMs: number, attempts: number): void {
    const { world } = this;
    if (!world.isOpen) {
      world.time.after(CLOSED_MS, () => this.attempt(id, username, text, sinceMs, attempts));
      return;
    }
    let isOver = false;
    const again = () => {
      if (isOver) return;
      isOver = true;
      if (attempts >= RETRIES_MAX)
        throw new Error(`no answer to ${id}: ${JSON.stringify([...this.failures])}\n${world.describe()}`);
      world.time.after(RETRY_MS, () => this.attempt(id, username, text, sinceMs, attempts + 1));
    };
    world.send('placeBets', text, (answer) => {
      if (answer?.type === 'accepted') {
        this.noteBalance(username, answer.after);
        this.noteAnswer(id, answer.before, answer.after, sinceMs);
        isOver = true;
        return;
      }
      if (answer !== undefined) this.failures.set(answer.failure, (this.failures.get(answer.failure) ?? 0) + 1);
      again();
    });
  }

  /** Records an answer. Late answers count as well, because their receiver may have read them. */
  private noteAnswer(id: string, before: number, after: number, sinceMs: number): void {
    const first = this.reported.get(id);
    if (first === undefined) {
      this.reported.set(id, { before, after });
      this.tookMs.push(this.world.time.nowMs - sinceMs);
      this.unanswered--;
      return;
    }
    assert.deepEqual({ before, after }, first, `${id} has two answers`);
  }
}

function nameOf(player: number): string {
  return `player-${player}`;
}
