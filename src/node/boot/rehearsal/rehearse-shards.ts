import { randomBytes } from 'node:crypto';
import { systemClock } from '../../../base/clock.js';
import { silentLogger } from '../../../base/logger.js';
import { delay, systemTimers } from '../../../base/timers.js';
import type { CallbackCodec } from '../../../callback/callback-codec.js';
import type { ShardLimits } from '../../../engine/shard.js';
import type { CallbackService } from '../../../http/callback-deps.js';
import { takeOver } from '../../../log/take-over.js';
import type { Archive } from '../../../ports/archive.js';
import { IMMEDIATE } from '../../../snapshot/snapshotter.js';
import { EntryCodec, genesisHead } from '../../../store/format/entry-codec.js';
import { FormatGate, STORE_FORMAT } from '../../../store/format/format-gate.js';
import { SnapshotCodec } from '../../../store/format/snapshot-codec.js';
import type { HostObserver } from '../../../threads/host-observer.js';
import { shardOf } from '../../../threads/placement.js';
import { ShardHost } from '../../../threads/shard-host.js';
import type { MemoryGuard } from '../../../upkeep/memory-guard.js';
import type { Rules } from '../../../wallet/decide/rules.js';
import type { Query } from '../../../wallet/query.js';
import type { TableSizes } from '../../../wallet/state/tables.js';
import { newNonceOf } from '../../folder/identity.js';
import { rehearseTables } from './rehearse-tables.js';
import { CURRENCY, type Rehearsed, roundOfPlay } from './rounds-of-play.js';
import { ScratchStore } from './scratch-store.js';
import { untilWarm } from './until-warm.js';

const STORE_ID = '00000000-0000-4000-8000-000000000000';
/** Several, so that a group of appends has entries of more than one shard. */
const SHARDS = [0, 1];
const OWNER_TAG = randomBytes(4).toString('hex');
const OWNER = { host: 'rehearsal', pid: process.pid, startedMs: systemClock.now() };
const genesis = (shard: number) => genesisHead(STORE_ID, shard);
const newNonce = () => newNonceOf(OWNER_TAG);
/** More players than play at a time, so that some of them are hibernated, as most real players are after a start. */
const PLAYERS = 512;
const PLAYERS_AT_ONCE = 32;
/**
 * One player in this many uses the listener. The others do not, because this thread also does the work of the client at
 * each connection.
 */
const PLAYERS_PER_CONNECTION = 4;
export const CONNECTIONS = PLAYERS_AT_ONCE / PLAYERS_PER_CONNECTION;
/** Real balances have more units than a 32-bit integer can hold. V8 discards code that has only seen smaller ones. */
const OPENING_BALANCE = 10_000_000_000_000;
const TABLE_SIZES: TableSizes = { segmentRows: 1024, pageBytes: 65_536 };
const NO_SNAPSHOTS = { everyEntries: 0, everyMs: 0, keep: 1, historyBytesMax: 0 };

/** Sends requests one at a time. Resolves when the last one is answered. */
export type Play = (of: number, requests: readonly Rehearsed[]) => Promise<void>;

export interface RehearsalDeps {
  readonly codec: CallbackCodec;
  readonly rules: Rules;
  readonly limits: ShardLimits;
  /** Creates an observer that receives the same notifications as the thread's own. It is closed afterwards. */
  readonly newObserver: () => HostObserver & { close(): void };
  readonly memory: MemoryGuard;
  /** An archive without records; undefined if the real shards have no archive. */
  readonly archive: Archive | undefined;
  /** See `stakesOf`. */
  readonly stakes: readonly number[];
  readonly maxMs: number;
  /** Number of owners that the shards have, one after another. All but the first recover the players from a snapshot. */
  readonly owners: number;
  /** Opens a listener in front of the shard, for some of the players. If undefined, the shard gets all requests directly. */
  readonly listen?: ((service: CallbackService) => Promise<ScratchListener>) | undefined;
}

/** A listener that exists only for a rehearsal. */
export interface ScratchListener {
  readonly play: Play;
  close(): void;
}

export interface Rehearsal {
  readonly callbacks: number;
  readonly tookMs: number;
}

/**
 * Executes callbacks on a temporary shard until they stop getting faster, or for `maxMs`. Meanwhile V8 compiles the
 * code, so that the thread's first real callbacks do not wait for the compiler. The rehearsal leaves no file, no log
 * line and no metric.
 */
export async function rehearseShards(deps: RehearsalDeps): Promise<Rehearsal> {
  const startedMs = systemClock.monotonicMs();
  detachBuffer();
  rehearseTables();
  const store = new ScratchStore(SHARDS, genesis);
  const { owners } = deps;
  let rounds = 0;
  for (let owner = 1; owner <= owners; owner++) {
    const host = scratchHost(deps, store);
    let listener: ScratchListener | undefined;
    try {
      await start(host, store);
      if (owner === 1) await importPlayers(host);
      listener = await deps.listen?.(host);
      // The import and the recovery count as well.
      const endMs = startedMs + (deps.maxMs * owner) / owners;
      const isLastNow = untilWarm(endMs, systemClock);
      do {
        await playAll(host, listener, rounds++, deps.stakes);
      } while (!isLastNow());
      if (owner < owners) await host.takeSnapshots(IMMEDIATE);
    } finally {
      listener?.close();
      await host.close();
      // uWebSockets.js keeps the handlers of a closed app, and they refer to the host.
      host.discard();
    }
  }
  store.discard();
  const callbacks = rounds * PLAYERS_AT_ONCE * roundOfPlay('', 0, deps.stakes).length;
  return { callbacks, tookMs: Math.round(systemClock.monotonicMs() - startedMs) };
}

const OPERATOR = { name: 'rehearsal', address: '127.0.0.1' };

const PLAYER_NAMES = Array.from({ length: PLAYERS }, (_, player) => `rehearsal-${player}`);

/**
 * Detaches a buffer. When the first buffer of a thread is detached, V8 discards all optimized code that uses typed
 * arrays. uWebSockets.js detaches the buffer of each request's body, so this must have happened before the rehearsal.
 */
function detachBuffer(): void {
  const buffer = new ArrayBuffer(1);
  structuredClone(buffer, { transfer: [buffer] });
}

function scratchHost(
  { codec, rules, limits, memory, archive, newObserver }: RehearsalDeps,
  store: ScratchStore,
): ShardHost {
  const gate = new FormatGate(STORE_FORMAT);
  const observer = newObserver();
  // Keep the order of the fields of a real thread's shards (see shard-thread.ts), so that both have one V8 shape.
  return new ShardHost(SHARDS, {
    codec,
    shardCount: SHARDS.length,
    isShared: false,
    checkStore: async () => {},
    wal: store,
    snapshots: store,
    snapshotFormat: new SnapshotCodec(STORE_ID, gate),
    tableSizes: TABLE_SIZES,
    allowFormat: () => {},
    policy: NO_SNAPSHOTS,
    consumers: undefined,
    newSnapshotId: newNonce,
    acknowledged: () => undefined,
    format: new EntryCodec(STORE_ID, gate),
    genesis,
    clock: systemClock,
    timers: systemTimers,
    clockOffsetMs: systemClock.now() - systemClock.monotonicMs(),
    log: silentLogger,
    rules,
    limits,
    loopIdleMs: () => performance.eventLoopUtilization().idle,
    // Players hibernate during the rehearsal, because after a start the real players are hibernated too.
    idleMs: 100,
    archive,
    names: undefined,
    memoryMs: Number.POSITIVE_INFINITY,
    memory,
    observer,
    replayWindowMs: 60_000,
    metrics: () => [],
    owner: OWNER,
    ownerTag: OWNER_TAG,
    isTracing: false,
    newNonce,
    isClockConfirmed: () => false,
    onFenced: () => {},
    writeOrphans: async () => '',
    recentBytesMax: 0,
    onClose: async () => observer.close(),
  });
}

async function start(host: ShardHost, store: ScratchStore): Promise<void> {
  const fences = await takeOver(SHARDS, {
    wal: store,
    format: new EntryCodec(STORE_ID),
    clock: systemClock,
    log: silentLogger,
    owner: OWNER,
    newNonce,
    delay: (ms) => delay(systemTimers, ms),
    attemptsMax: 1,
  });
  await host.start(fences);
}

async function importPlayers(host: ShardHost): Promise<void> {
  const balance = OPENING_BALANCE;
  const imported = PLAYER_NAMES.map((username) => {
    const command = {
      type: 'import-player',
      id: 'rehearsal',
      username,
      currency: CURRENCY,
      balance,
      by: OPERATOR,
    } as const;
    return new Promise((resolve) =>
      host.execute(shardOfPlayer(username), command, Number.POSITIVE_INFINITY, { reply: resolve }),
    );
  });
  await Promise.all(imported);
}

function shardOfPlayer(username: string): number {
  return shardOf(username, SHARDS.length);
}

async function playAll(
  host: ShardHost,
  listener: ScratchListener | undefined,
  round: number,
  stakes: readonly number[],
): Promise<void> {
  const play: Play = (player, requests) =>
    listener !== undefined && player % PLAYERS_PER_CONNECTION === 0
      ? listener.play(player / PLAYERS_PER_CONNECTION, requests)
      : playDirectly(host, requests);
  const first = (round * PLAYERS_AT_ONCE) % PLAYERS;
  const players = PLAYER_NAMES.slice(first, first + PLAYERS_AT_ONCE);
  // The shards' own totals are asked for regularly. A group of requests may consist of queries only.
  const asked = [
    ...SHARDS.map((shard) => ask(host, shard, { type: 'read-tallies' })),
    ...players.slice(0, 1).map((username) => ask(host, shardOfPlayer(username), { type: 'read-player', username })),
  ];
  await Promise.all([
    ...players.map((username, player) => play(player, roundOfPlay(username, round, stakes))),
    ...asked,
  ]);
}

function ask(host: ShardHost, shard: number, query: Query): Promise<unknown> {
  return new Promise((resolve) => host.ask(shard, query, Number.POSITIVE_INFINITY, { reply: resolve }));
}

async function playDirectly(host: ShardHost, requests: readonly Rehearsed[]): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + 60_000;
  for (const { endpoint, text } of requests) {
    await new Promise((resolve) =>
      host.carryOut({ endpoint, text, deadlineMs, isSigned: true, isTraced: false }, { reply: resolve }),
    );
  }
}
