import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../src/base/logger.js';
import type { Timers } from '../../src/base/timers.js';
import type { ShardLimits } from '../../src/engine/shard.js';
import type { Taking } from '../../src/log/follower.js';
import { type TakeOverDeps, takeOver } from '../../src/log/take-over.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { Archive } from '../../src/ports/archive.js';
import type { LogConsumers } from '../../src/ports/log-consumers.js';
import type { EncodedEntry, Position } from '../../src/ports/wal.js';
import type { SnapshotPolicy } from '../../src/snapshot/snapshot-policy.js';
import type { Store } from '../../src/store/store.js';
import type { HostObserver } from '../../src/threads/host-observer.js';
import type { HostedShard } from '../../src/threads/hosted-shard.js';
import { ShardHost } from '../../src/threads/shard-host.js';
import type { MoveResult } from '../../src/threads/shards.js';
import type { Command } from '../../src/wallet/command.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Answer } from '../../src/wallet/decision.js';
import type { Query, QueryResult } from '../../src/wallet/query.js';
import type { BusyAnswer } from '../../src/wallet/rejection.js';
import type { Wallets } from '../../src/wallet/state/wallets.js';
import { hostDeps } from './host-deps.js';
import { MemoryWal } from './memory-wal.js';
import { settingsWith } from './settings.js';

const newHex = (digits: number) => randomBytes(digits / 2).toString('hex');

/** Shards on an in-memory log, with a clock and a memory guard that the test controls. */
export class TestHost {
  readonly wal: MemoryWal;
  readonly clock = { nowMs: 1_700_000_000_000, now: () => this.clock.nowMs, monotonicMs: () => this.clock.nowMs };
  readonly memory = { isFull: false, isHalfFull: false };
  readonly fenced: { shard: number; takenBy: string }[] = [];
  readonly orphans: EncodedEntry[] = [];
  readonly logLines: { level: string; message: string; fields: { readonly code?: unknown } }[] = [];
  readonly host: ShardHost;
  private readonly shards: readonly number[];
  readonly deps: TakeOverDeps;

  constructor(
    options: {
      wal?: MemoryWal;
      shards?: number;
      limits?: Partial<ShardLimits>;
      rules?: Partial<Rules>;
      recentBytesMax?: number;
      ownerTag?: string;
      policy?: Partial<SnapshotPolicy>;
      consumers?: LogConsumers;
      acknowledged?: ReadonlyMap<number, Position>;
      observer?: HostObserver;
      archive?: Archive;
      memoryMs?: number;
      idleMs?: number;
      /** The store to use instead of the in-memory log that the test accesses as `wal`. */
      store?: Pick<Store, 'wal' | 'snapshots'> & { readonly storeId: string };
      isShared?: boolean;
      timers?: Timers;
      /** If false, only the test's clock confirms the time. */
      isTimeConfirmed?: boolean;
      isClockConfirmed?: boolean;
    } = {},
  ) {
    const { shards = 2, limits = {}, rules = {}, policy = {}, ownerTag = newHex(8), archive } = options;
    const settings = settingsWith();
    this.wal = options.wal ?? new MemoryWal(randomUUID(), shards);
    const { wal, snapshots, storeId } = options.store ?? {
      wal: this.wal,
      snapshots: this.wal,
      storeId: this.wal.storeId,
    };
    const write = (level: string) => (fields: { readonly code?: unknown }, message: string) => {
      this.logLines.push({ level, message, fields });
    };
    const log: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    const { acknowledged, observer, memoryMs, idleMs, recentBytesMax, isShared, timers } = options;
    const deps = hostDeps({
      storeId,
      shardCount: shards,
      wal,
      snapshots,
      ownerTag,
      newHex,
      clock: this.clock,
      log,
      rules: { ...rulesOf(settings), ...rules },
      limits: { ...settings.limits, ...limits },
      policy: { everyEntries: 0, everyMs: 0, keep: 3, historyBytesMax: 0, ...policy },
      acknowledged: (shard) => acknowledged?.get(shard),
      memory: this.memory,
      archive,
      onFenced: (shard, takenBy) => this.fenced.push({ shard, takenBy }),
      writeOrphans: async (shard, entries) => {
        this.orphans.push(...entries);
        return `orphans of ${shard}`;
      },
      isClockConfirmed: () => options.isClockConfirmed === true,
      consumers: options.consumers,
      ...(observer !== undefined && { observer }),
      ...(memoryMs !== undefined && { memoryMs }),
      ...(idleMs !== undefined && { idleMs }),
      ...(recentBytesMax !== undefined && { recentBytesMax }),
      ...(isShared !== undefined && { isShared }),
      ...(timers !== undefined && { timers }),
    });
    this.shards = Array.from({ length: shards }, (_, shard) => shard);
    this.deps = { ...deps, delay, attemptsMax: 10 };
    this.host = new ShardHost(this.shards, deps);
    if (options.isTimeConfirmed !== false) {
      this.host.confirmTime({ timeMs: Number.POSITIVE_INFINITY, retentionMs: 0 });
    }
  }

  static async started(options: ConstructorParameters<typeof TestHost>[0] = {}): Promise<TestHost> {
    const test = new TestHost(options);
    await test.start();
    return test;
  }

  /** Takes over all shards and recovers them. */
  async start(): Promise<void> {
    await this.host.start(await takeOver(this.shards, this.deps));
  }

  execute(command: Command, shard = 0, deadlineMs = Number.POSITIVE_INFINITY): Promise<Answer> {
    return new Promise((resolve) => this.host.execute(shard, command, deadlineMs, { reply: resolve }));
  }

  ask(query: Query, shard = 0, deadlineMs = Number.POSITIVE_INFINITY): Promise<QueryResult | BusyAnswer> {
    return new Promise((resolve) => this.host.ask(shard, query, deadlineMs, { reply: resolve }));
  }

  /** Transfers shard 0 to a different host on the same log, without changing that host's clock. */
  async handOver(to: TestHost): Promise<void> {
    await this.host.move({ type: 'pause', shard: 0 });
    const result = await to.take();
    assert.equal(result.type, 'taken', JSON.stringify(result));
    await this.host.move({ type: 'release', shard: 0 });
  }

  /** Takes over shard 0, unconditionally by default. */
  take(taking: Partial<Taking> = {}): Promise<MoveResult> {
    const all: Taking = { over: undefined, acknowledged: undefined, untilMs: Number.POSITIVE_INFINITY, ...taking };
    return this.host.move({ type: 'take', shard: 0, ...all });
  }

  /** Makes the next command for shard 0 trigger a bug. The shard must be serving. */
  plantBug(): void {
    const { shards } = this.host as unknown as { shards: Map<number, HostedShard> };
    const wallets = shards.get(0)?.shard.source?.wallets as Wallets;
    wallets.get = () => {
      throw new Error('a bug');
    };
  }

  async fund(username: string, balance: number, shard = 0): Promise<void> {
    await this.execute({ type: 'import-player', id: 'fund', username, currency: 'THB', balance }, shard);
  }

  async balance(username: string, shard = 0): Promise<number | undefined> {
    const result = await this.ask({ type: 'read-player', username }, shard);
    return result.type === 'player' ? result.player?.balance : undefined;
  }
}

/** Result of a promise that is already settled; undefined while the promise is pending. Does not wait. */
export async function peek<T>(promise: Promise<T>): Promise<T | undefined> {
  await turns(20);
  return await Promise.race([promise, Promise.resolve(undefined)]);
}

/** Lets the event loop run `count` iterations. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
