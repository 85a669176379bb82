import { must } from '../../src/base/assert.js';
import type { Logger } from '../../src/base/logger.js';
import { delay } from '../../src/base/timers.js';
import type { CallbackCodec, CallbackReply } from '../../src/callback/callback-codec.js';
import type { SentCallback } from '../../src/callback/sent-callback.js';
import { ClusterNode, type ClusterWitnesses } from '../../src/cluster/cluster-node.js';
import type { TimeRecord } from '../../src/node/folder/time-record.js';
import { TimeKeeper } from '../../src/node/jobs/time-keeper.js';
import type { Position } from '../../src/ports/wal.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { FormatGate } from '../../src/store/format/format-gate.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { ShardHost } from '../../src/threads/shard-host.js';
import type { Command } from '../../src/wallet/command.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Answer } from '../../src/wallet/decision.js';
import type { TableSizes } from '../../src/wallet/state/tables.js';
import type { Wallet } from '../../src/wallet/state/wallet.js';
import { hostDeps } from '../support/host-deps.js';
import type { Network, SimulatedLinks } from './network.js';
import type { Random } from './random.js';
import type { SimulatedArchive } from './simulated-archive.js';
import { type SharedFeed, SimulatedFeeds } from './simulated-feeds.js';
import { SimulatedProcess } from './simulated-process.js';
import type { SimulatedStore } from './simulated-store.js';
import type { SimulatedTable } from './simulated-table.js';
import type { VirtualTime } from './virtual-time.js';

export interface Surroundings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly store: SimulatedStore;
  readonly table: SimulatedTable;
  /** The archive's records, and the network that delivers calls to the archive. */
  readonly archive: SimulatedArchive;
  readonly archiveServer: SimulatedStore;
  readonly feed: SharedFeed | undefined;
  readonly codec: CallbackCodec;
  readonly log: (name: string, level: string, message: string, fields: object) => void;
}

export interface NodeSettings {
  readonly name: string;
  readonly followers: number;
  readonly expect: number;
  /** Acknowledged positions recorded in this node's folder. */
  readonly acknowledged: ReadonlyMap<number, Position>;
  /** Number of entries between two snapshots of a shard. */
  readonly snapshotEntries: number;
  /** The newest storage format that the node can read. */
  readonly format: number;
  readonly rules: Rules;
  /** The newest confirmed time recorded in this node's folder. */
  readonly timeRecord: Pick<TimeRecord, 'confirmedMs' | 'write'>;
  /** Called when only the node's own clock confirmed the time. The argument is how far that clock is ahead. */
  readonly onUnwitnessed: (aheadMs: number) => void;
  /** How long closed rounds stay in memory; undefined if there is no archive. */
  readonly memoryMs: number | undefined;
}

/** The name of a store server in a cut. Cuts also refer to processes by name. */
export function serverName(server: number): string {
  return `server-${server}`;
}

/** The name of the archive's server in a cut. */
export const ARCHIVE = 'archive';
/** The format that a node writes before it has read an assignment. */
const FIRST_FORMAT = 1;
/** Sizes of small memory blocks, so that a few players fill several blocks. */
const SMALL: TableSizes = { segmentRows: 64, pageBytes: 4096 };
const TABLE_SERVER = 0;
/** Limits that no run reaches: the log is kept until the consumer has read it. */
const FOR_CONSUMERS = { bytesMax: 16 * 1024 * 1024, ageMaxMs: Number.MAX_SAFE_INTEGER };
/** The time within which callers notice that the node is not ready. */
const NOTICED_MS = 5000;
const READY_POLL_MS = 100;

/** A walletd process: the real code for its shards and its part in the cluster, in a simulated environment. */
export class SimulatedNode {
  readonly tag: string;
  readonly process: SimulatedProcess;
  readonly memory = { isFull: false, isHalfFull: false };
  readonly cluster: ClusterNode;
  readonly host: ShardHost;
  /** Undefined if the node does not serve the event feed. */
  readonly feeds: SimulatedFeeds | undefined;
  private readonly links: SimulatedLinks;
  private readonly timeKeeper: TimeKeeper;
  /** True if the node accepts callbacks. */
  isOpen = true;
  private inFlight = 0;
  private wasBroken = false;

  constructor(
    around: Surroundings,
    readonly settings: NodeSettings,
  ) {
    const { time, network, store, table, archive, archiveServer, feed, codec } = around;
    const { name, followers, expect, acknowledged, snapshotEntries, format, memoryMs, rules, timeRecord } = settings;
    const random = around.random.fork();
    this.tag = random.hex(8);
    const { tag } = this;
    const process = new SimulatedProcess(time);
    const log = loggerOf(name, around);
    const isCut = (server: number) => network.isCut(tag, serverName(server));
    const isArchiveCut = () => network.isCut(tag, ARCHIVE);
    const access = store.accessOf(process, isCut);
    const gate = new FormatGate(FIRST_FORMAT);
    this.process = process;
    this.feeds = feed && new SimulatedFeeds(store, feed, process, isCut);
    this.host = new ShardHost(
      Array.from({ length: store.shardCount }, (_, shard) => shard),
      hostDeps({
        storeId: store.storeId,
        shardCount: store.shardCount,
        codec,
        wal: access,
        snapshots: access,
        ownerTag: tag,
        newHex: (digits) => random.hex(digits),
        owner: { host: name, pid: 1, startedMs: process.now() },
        isShared: true,
        format: new EntryCodec(store.storeId, gate),
        snapshotFormat: new SnapshotCodec(store.storeId, gate, SMALL),
        tableSizes: SMALL,
        allowFormat: (format) => gate.open(format),
        acknowledged: (shard) => acknowledged.get(shard),
        policy: { everyEntries: snapshotEntries, everyMs: 0, keep: 2, historyBytesMax: 0, forConsumers: FOR_CONSUMERS },
        consumers: this.feeds?.consumers,
        clock: process,
        timers: process,
        loopIdleMs: () => process.monotonicMs(),
        memory: this.memory,
        rules,
        ...(memoryMs !== undefined && {
          memoryMs,
          archive: archive.for((run) => archiveServer.call(process, 0, isArchiveCut, run)),
        }),
        log,
        onFenced: (shard, takenBy, head) => this.cluster.fenced(shard, takenBy, head),
      }),
    );
    let links: SimulatedLinks | undefined;
    this.cluster = new ClusterNode({
      tag,
      about: {
        name,
        host: name,
        zone: '',
        version: '1',
        format,
        rulesHash: '',
        retentionMs: rules.retentionMs,
        archiveId: undefined,
      },
      advertisedPort: undefined,
      settings: { followers, expect },
      shardCount: store.shardCount,
      table: table.for((run) => store.call(process, TABLE_SERVER, isCut, run)),
      headOf: (shard) => access.head(shard),
      appendQueueOf: (shard) => access.appendQueueOf(shard),
      local: this.host,
      makeLinks: (events) => {
        links = network.join(tag, process, events);
        return links;
      },
      codec,
      acknowledged,
      parkedMax: 10_000,
      refusesRepeats: rules.duplicates === 'reject',
      observer: { taken() {}, paused() {} },
      onForeignOwners: () => {},
      signedOut: { all: [], note() {} },
      clock: process,
      addMissedTime: (ms) => process.addMissedTime(ms),
      timers: process,
      log,
    });
    this.links = must(links, 'a node has links');
    this.timeKeeper = new TimeKeeper({
      shards: this.host,
      cluster: () => this.witnesses(),
      retentionMs: rules.retentionMs,
      confirmedOn: null,
      record: timeRecord,
      clock: process,
      timers: process,
      log,
    });
  }

  async start(): Promise<void> {
    await this.host.start([]);
    await this.cluster.start();
    while (!this.cluster.isReady) await delay(this.process, READY_POLL_MS);
    this.timeKeeper.start();
  }

  private witnesses(): ClusterWitnesses {
    const { witnesses } = this.cluster;
    if (witnesses.peersMs.length === 0) this.settings.onUnwitnessed(this.process.aheadMs);
    return witnesses;
  }

  /** Calls `reply` once, or never if the process ends first. */
  carryOut(callback: Omit<SentCallback, 'deadlineMs'>, timeoutMs: number, reply: (reply: CallbackReply) => void): void {
    const { process, cluster } = this;
    this.inFlight++;
    // Start the deadline here. Otherwise, a stopped process would execute a late message after the gambler has given
    // up.
    const deadlineMs = process.monotonicMs() + timeoutMs;
    process.here(() => {
      const answered = (answer: CallbackReply) => {
        this.inFlight--;
        reply(answer);
      };
      cluster.router.carryOut({ ...callback, deadlineMs }, { reply: (answer) => process.here(() => answered(answer)) });
    });
  }

  /** Executes an operator command. */
  execute(shard: number, command: Command, timeoutMs: number, reply: (answer: Answer) => void): void {
    const { process, cluster } = this;
    const deadlineMs = process.monotonicMs() + timeoutMs;
    process.here(() => {
      cluster.router.execute(shard, command, deadlineMs, { reply: (answer) => process.here(() => reply(answer)) });
    });
  }

  /** Triggers a bug: the shard receives a command that it cannot decide. */
  breakShard(shard: number): void {
    this.wasBroken = true;
    const command = { type: 'no such command', username: 'nobody' } as unknown as Command;
    this.process.here(() => this.host.execute(shard, command, Number.POSITIVE_INFINITY, { reply() {} }));
  }

  /**
   * True if a shard has stopped. A shard that fails twice within a minute stays stopped until the process is restarted.
   */
  get needsRestart(): boolean {
    return this.wasBroken && this.states().includes('stopped');
  }

  /** States of the node's shards. */
  states(): readonly string[] {
    return this.host.status().map(({ state }) => state);
  }

  get serving(): readonly number[] {
    return this.host.status().flatMap(({ shard, state }) => (state === 'serving' ? [shard] : []));
  }

  /** Age of the oldest append in progress. */
  get pendingAppendMs(): number {
    return Math.max(...this.host.status().map(({ pendingAppendMs }) => pendingAppendMs));
  }

  wallet(shard: number, username: string): Wallet | undefined {
    const { shards } = this.host as unknown as {
      shards: Map<number, { shard: { findWallet(name: string): Wallet | undefined } }>;
    };
    return shards.get(shard)?.shard.findWallet(username);
  }

  kill(): void {
    this.process.kill();
    this.links.die();
  }

  /** Handles SIGTERM: ends the parts in the same order as the real process does. */
  async end(drainMs: number): Promise<void> {
    const { process } = this;
    await this.cluster.giveAway(drainMs);
    await delay(process, NOTICED_MS);
    this.isOpen = false;
    while (this.inFlight > 0) await delay(process, 5);
    this.timeKeeper.stop();
    await this.cluster.leave();
    await this.host.close();
    this.kill();
  }
}

function loggerOf(name: string, { log }: Surroundings): Logger {
  const write = (level: string) => (fields: object, message: string) => log(name, level, message, fields);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
