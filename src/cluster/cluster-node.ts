import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { isCount } from '../base/shape.js';
import { type Cancel, delay, type Timers } from '../base/timers.js';
import { writtenByNewer } from '../base/written-by-newer.js';
import type { CallbackCodec } from '../callback/callback-codec.js';
import type { MemberRecord, MembershipRegistry, RegistryView } from '../ports/table.js';
import type { Head, Position } from '../ports/wal.js';
import type { Explanation } from '../replica/explain.js';
import { tagOf } from '../replica/tag-of.js';
import { BACKGROUND, type SnapshotResult } from '../snapshot/snapshotter.js';
import type { ShardStatus, Shards } from '../threads/shards.js';
import { isOtherArchive } from './archive-ids.js';
import { CallServer } from './call-server.js';
import type { ClusterMeasures } from './cluster-measures.js';
import { type ClusterShard, newClusterShards, noteAcknowledged, noteServed } from './cluster-shard.js';
import { type ClusterStatus, clusterStatus } from './cluster-status.js';
import { lagsOf } from './follower-lag.js';
import { isKnownMessage } from './known-messages.js';
import { HEARTBEAT_MS, Membership } from './membership.js';
import { MissingMembers } from './missing-members.js';
import { type Move, MoveHistory } from './move-history.js';
import { Ownership, type OwnershipObserver } from './ownership.js';
import { PauseWatch } from './pause-watch.js';
import { PeerClocks } from './peer-clocks.js';
import type { LinkHeartbeat, PeerAddress, PeerEvents, PeerLinks, PeerMessage, SignedOut } from './peer-protocol.js';
import { PeerTimes } from './peer-times.js';
import { Planner, type PlannerSettings } from './planner.js';
import { Retentions } from './retentions.js';
import { Router } from './router.js';
import { Routes } from './routes.js';
import { SnapshotRound } from './snapshot-round.js';
import { Watch } from './watch.js';

export interface ClusterNodeDeps {
  /** The tag of this process in the membership registry and in every nonce: 8 hexadecimal digits. */
  readonly tag: string;
  /** Fields of the member record that do not change while the process runs. */
  readonly about: Omit<MemberRecord, 'port' | 'isLeaving' | 'isFull' | 'hasRoom' | 'isTimeWrong' | 'unreachable'>;
  /** The port at which peers reach this node, if it differs from the listening port. */
  readonly advertisedPort: number | undefined;
  readonly settings: PlannerSettings;
  readonly shardCount: number;
  readonly table: MembershipRegistry;
  readonly headOf: (shard: number) => Promise<Head>;
  readonly appendQueueOf: (shard: number) => number;
  readonly local: Shards;
  readonly makeLinks: (events: PeerEvents) => PeerLinks;
  readonly codec: Pick<CallbackCodec, 'addressOf'>;
  /** The newest acknowledged entry of each shard, from this node's record file. */
  readonly acknowledged: ReadonlyMap<number, Position>;
  readonly parkedMax: number;
  readonly refusesRepeats: boolean;
  readonly observer: OwnershipObserver;
  /** Called when a process that is not a member owns all shards, and has therefore taken over the store. */
  readonly onForeignOwners: (shard: number, takenBy: string) => void;
  /** Console sessions that this node knows to be signed out. */
  readonly signedOut: { readonly all: readonly SignedOut[]; note(signedOut: readonly SignedOut[]): void };
  readonly clock: Clock;
  /** Advances this process's monotonic clock, in all its threads. */
  readonly addMissedTime: (ms: number) => void;
  readonly timers: Timers;
  readonly log: Logger;
}

const TICK_MS = 50;
/**
 * While the cluster is calm, only every fourth tick acts. A view of the registry, which arrives with each heartbeat,
 * acts as well.
 */
const CALM_TICKS = 4;
/** Two live members that have had no link for this long cannot reach each other. */
const UNREACHABLE_MS = 3000;
/**
 * A member reports itself as full for this long after its memory was last full, so that shards do not move back and
 * forth.
 */
const FULL_MS = 300_000;
const MOVE_ATTEMPTS = 10;
const TIME_WARN_MS = 5000;
const PAUSE_LOG_MS = 10_000;
const TIME_MAX_MS = 60_000;

/** The reason why an operator's cluster command is refused. */
export type ClusterRefusal = 'no-such-node' | 'node-takes-none' | 'table-has-changed';

/** Clocks and retentions of the other members, which limit irreversible actions. */
export interface ClusterWitnesses {
  /** Current wall-clock times of the other members. */
  readonly peersMs: readonly number[];
  /** How long each member keeps data; undefined for a member that does not report it. */
  readonly retentionsMs: readonly (number | undefined)[];
}

/** The state of a peer, as of its newest heartbeat. */
interface Peer {
  readonly seesTable: boolean;
}

/** This node as a member of the cluster. Connects the parts and routes events between them. */
export class ClusterNode implements PeerEvents {
  readonly router: Router;
  private readonly shards: readonly ClusterShard[];
  private readonly watch: Watch;
  private readonly routes: Routes;
  private readonly clocks = new PeerClocks();
  private readonly times = new PeerTimes();
  private readonly retentions = new Retentions();
  private readonly pauses = new PauseWatch();
  private readonly membership: Membership;
  private readonly ownership: Ownership;
  private readonly planner: Planner;
  private readonly callServer: CallServer;
  private readonly snapshots: SnapshotRound;
  private readonly links: PeerLinks;
  private readonly peers = new Map<string, Peer>();
  private readonly history: MoveHistory;
  private readonly missing = new MissingMembers();
  /** By tag: when the link to the member went down. */
  private readonly downSinceMs = new Map<string, number>();
  /** Tags of all members seen since this process started. */
  private readonly everMembers = new Set<string>();
  private readonly warned = new Set<string>();
  private cancels: readonly Cancel[] = [];
  private port = 0;
  private calmTicks = 0;
  private isLeaving = false;
  private fullUntilMs = Number.NEGATIVE_INFINITY;
  private isTimeWrong = false;
  private pauseLoggedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: ClusterNodeDeps) {
    const { tag, shardCount, table, local, clock, timers, log, settings } = deps;
    const shards = newClusterShards(shardCount, clock.monotonicMs(), deps.acknowledged);
    this.shards = shards;
    this.watch = new Watch(shards);
    this.routes = new Routes(shards);
    this.history = new MoveHistory(shards);
    this.links = deps.makeLinks(this);
    const send = (to: string, message: PeerMessage) => this.links.send(to, message);
    const broadcast = (message: PeerMessage) => this.broadcast(message);
    this.membership = new Membership({
      tag,
      table,
      watch: this.watch,
      record: () => this.record(),
      onView: (view) => this.viewed(view),
      onGone: () => this.ownership.confirmAll(),
      clock,
      timers,
      log,
    });
    this.ownership = new Ownership({
      tag,
      shards,
      local,
      watch: this.watch,
      view: () => this.membership.view,
      isLinked: (peer) => this.links.isUp(peer),
      send,
      broadcast,
      appendQueueOf: deps.appendQueueOf,
      headOf: deps.headOf,
      toTheirClock: (peer, ourMs) => this.clocks.toTheirs(peer, ourMs),
      claim: (shard, claim) => table.claim(shard, claim),
      release: (shard, claim) => table.release(shard, claim),
      isClockSane: () => this.times.outlyingMs <= TIME_MAX_MS,
      onServed: (shard, epoch) => this.served(shard, epoch),
      observer: deps.observer,
      clock,
      timers,
      log,
    });
    this.planner = new Planner({
      tag,
      name: deps.about.name,
      shards,
      settings,
      watch: this.watch,
      reaches: (shard) => this.ownership.reaches(shard),
      putPlan: (version, plan, gone) => table.putPlan(version, plan, gone),
      onPlan: () => {
        broadcast({ type: 'look' });
        this.membership.look();
      },
      clock,
      log,
    });
    this.router = new Router({
      tag,
      shards,
      local,
      isServedHere: (shard) => this.ownership.serves(shard),
      links: this.links,
      routes: this.routes,
      clocks: this.clocks,
      codec: deps.codec,
      clock,
      timers,
      log,
      parkedMax: deps.parkedMax,
      refusesRepeats: deps.refusesRepeats,
    });
    this.callServer = new CallServer(local, this.links);
    this.snapshots = new SnapshotRound(() => local.takeSnapshots(BACKGROUND), send, timers);
  }

  /**
   * Listens for peers and joins the cluster; shards are assigned later. Rejects if the node cannot listen, cannot reach
   * the registry, or cannot read a format that the other members may write.
   */
  async start(): Promise<void> {
    const { timers, table, about } = this.deps;
    const { plan } = (await table.read()).view;
    if (plan !== undefined && plan.format > about.format) {
      throw new Error(writtenByNewer("the cluster's plan", `format ${plan.format}`));
    }
    const port = await this.links.listen();
    this.port = this.deps.advertisedPort ?? port;
    await this.membership.join();
    this.cancels = [
      timers.every(TICK_MS, () => this.tickIfDue()),
      timers.every(HEARTBEAT_MS, () => this.sendHeartbeat()),
    ];
  }

  /**
   * True if this node can execute or forward callbacks. The node must be a member, an assignment must exist, and the
   * node must have links to more than half of the other members. It must also see the registry, unless no linked peer
   * sees it either. It does not have to own a shard.
   */
  get isReady(): boolean {
    const { view, seesTable } = this.membership;
    if (view?.plan === undefined || this.isLeaving) return false;
    const others = [...view.members.keys()].filter((tag) => tag !== this.deps.tag);
    const linked = others.filter((tag) => this.links.isUp(tag));
    if (!seesTable && linked.some((tag) => this.peers.get(tag)?.seesTable)) return false;
    return others.length === 0 || linked.length * 2 > others.length;
  }

  /** Called when another owner has fenced the shard's log. `takenBy` is a human-readable description. */
  fenced(shard: number, takenBy: string, head: Head): void {
    this.ownership.fenced(shard, head);
    this.deps.log.warn({ code: 'shard-fenced', shard, takenBy }, 'shard fenced by another owner');
    void this.checkForeignOwners(shard, takenBy, head);
  }

  /** Sets the certificate for new links to peers. */
  setCertificate(certificate: { readonly cert: Buffer; readonly key: Buffer }): void {
    this.links.setCertificate(certificate);
  }

  takeSnapshots(): Promise<readonly SnapshotResult[]> {
    return this.snapshots.take([...this.peers.keys()].filter((tag) => this.links.isUp(tag)));
  }

  /**
   * Informs all nodes about console sessions that were just signed out. A node without a link learns of them when its
   * next link opens.
   */
  sendSignedOut(signedOut: readonly SignedOut[]): void {
    this.broadcast({ type: 'out', signedOut });
  }

  /** By shard: the newest entry that any node may have acknowledged, as far as this node knows. */
  get acknowledged(): readonly (readonly [shard: number, Position])[] {
    return this.shards.flatMap(({ shard, acknowledged }) =>
      acknowledged === undefined ? [] : [[shard, acknowledged] as const],
    );
  }

  /** Clocks and retentions of the other members, for irreversible actions. */
  get witnesses(): ClusterWitnesses {
    const nowMs = this.deps.clock.now();
    const peersMs = this.times.aheadMs.map((aheadMs) => nowMs + aheadMs);
    return { peersMs, retentionsMs: this.retentions.all(this.membership.view) };
  }

  /** Undefined until the registry has answered. */
  get status(): ClusterStatus | undefined {
    const { tag, clock } = this.deps;
    const { view, seesTable } = this.membership;
    if (view === undefined) return undefined;
    const { watch, routes, shards } = this;
    const isLinked = (peer: string) => this.links.isUp(peer);
    return clusterStatus({
      tag,
      shards,
      seesTable,
      view,
      watch,
      routes,
      isLinked,
      nowMs: clock.monotonicMs(),
    });
  }

  /** Moves that this node has seen, newest first. */
  get moves(): readonly Move[] {
    return this.history.all;
  }

  measures(): ClusterMeasures {
    const { tag, local, settings, clock } = this.deps;
    const { view, seesTable } = this.membership;
    const nowMs = clock.monotonicMs();
    const members = { up: 0, draining: 0, leaving: 0, gone: 0 };
    for (const { state } of this.status?.nodes ?? []) members[state]++;
    const others = [...(view?.members.keys() ?? [])].filter((other) => other !== tag);
    const isFollowed = (shard: number) => (view?.plan?.followers[shard]?.length ?? 0) > 0;
    return {
      members,
      missing: this.missing.all,
      versions: new Set([...(view?.members.values() ?? [])].map(({ version }) => version)).size,
      links: others.filter((other) => this.links.isUp(other)).length,
      seesTable,
      unowned: this.shards.filter(({ shard }) => !this.isServedInSight(shard)).length,
      unfollowed: settings.followers === 0 ? 0 : this.shards.filter(({ shard }) => !isFollowed(shard)).length,
      following: lagsOf(this.shards, local.status(), nowMs),
      parked: this.router.parked,
      forwarded: this.router.forwarded,
      resent: this.router.resent,
      clockBehindMs: this.times.behindMs,
    };
  }

  /** Starts or stops draining the named node, for an operator. Rejects during an outage. */
  async drain(name: string, isDrained: boolean): Promise<ClusterRefusal | undefined> {
    const tag = this.tagNamed(name);
    if (tag === undefined || !(await this.deps.table.drain(tag, isDrained))) return 'no-such-node';
    this.lookAll();
    return undefined;
  }

  /** Moves the shard to the named node, for an operator. Rejects during an outage. */
  async moveShard(shard: number, name: string, by: string): Promise<ClusterRefusal | undefined> {
    for (let attempt = 1; attempt <= MOVE_ATTEMPTS; attempt++) {
      // Refresh the view, which may be 200 ms old. If the registry changes after this, it refuses the assignment.
      await this.membership.refresh();
      const tag = this.tagNamed(name);
      const { view } = this.membership;
      if (tag === undefined || view === undefined) return 'no-such-node';
      if (!this.takesShards(tag, view)) return 'node-takes-none';
      if (await this.planner.moveShard(view, shard, tag, by)) return undefined;
    }
    return 'table-has-changed';
  }

  /**
   * Hands all shards to other nodes before the process ends, and accepts no new ones. Resolves when no shard is left,
   * when no node can take one, or after `timeoutMs`.
   */
  async giveAway(timeoutMs: number): Promise<void> {
    const { clock, timers, log } = this.deps;
    const endMs = clock.monotonicMs() + timeoutMs;
    this.isLeaving = true;
    await this.membership
      .sendHeartbeat()
      .catch((error) =>
        log.warn(
          { code: 'leave-not-announced', error: messageOf(error) },
          'cannot announce the departure of this node',
        ),
      );
    this.lookAll();
    while (this.ownership.heldCount > 0 && this.hasSuccessors() && clock.monotonicMs() < endMs) {
      await delay(timers, TICK_MS);
    }
  }

  /** Releases all shards that this node still serves, and leaves the cluster. Never rejects. */
  async leave(): Promise<void> {
    const { log } = this.deps;
    for (const cancel of this.cancels) cancel();
    await this.ownership.end();
    await this.membership
      .leave()
      .catch((error) =>
        log.warn(
          { code: 'leave-not-recorded', error: messageOf(error) },
          'cannot remove this node from the membership registry',
        ),
      );
    this.broadcast({ type: 'look' });
    this.router.close();
    await this.links.close();
  }

  /** The state of each shard on this node, and the reason, for operators. */
  get explanations(): readonly Explanation[] {
    return this.ownership.explanations;
  }

  get heldCount(): number {
    return this.ownership.heldCount;
  }

  /** True if no other node can take this node's shards. */
  get isAlone(): boolean {
    return !this.hasSuccessors();
  }

  /**
   * True if this node has a link to the shard's owner. An ownership record outlives its member, so the record alone is
   * not enough.
   */
  private isServedInSight(shard: number): boolean {
    const owner = this.routes.of(shard);
    return owner !== undefined && (owner === this.deps.tag || this.links.isUp(owner));
  }

  private lookAll(): void {
    this.broadcast({ type: 'look' });
    this.membership.look();
  }

  /** The tag of the member with this name. If several members share the name, prefers a live one. */
  private tagNamed(name: string): string | undefined {
    const nowMs = this.deps.clock.monotonicMs();
    const named = [...(this.membership.view?.members ?? [])].filter(([, member]) => member.name === name);
    const [alive] = named.filter(([tag]) => tag === this.deps.tag || !this.watch.isGone(tag, nowMs));
    return (alive ?? named[0])?.[0];
  }

  private hasSuccessors(): boolean {
    const { view } = this.membership;
    const others = [...(view?.members.keys() ?? [])].filter((tag) => tag !== this.deps.tag);
    return view !== undefined && others.some((tag) => this.takesShards(tag, view));
  }

  /** True for a live member that is not draining and has the same archive as the other members. */
  private takesShards(tag: string, { members, drained, plan }: RegistryView): boolean {
    const member = members.get(tag);
    if (member === undefined || member.isLeaving || drained.has(tag)) return false;
    return !isOtherArchive(member.archiveId, plan?.archiveId) && !this.watch.isGone(tag, this.deps.clock.monotonicMs());
  }

  private tickIfDue(): void {
    const { local, clock } = this.deps;
    const nowMs = clock.monotonicMs();
    const statuses = local.status();
    noteServed(this.shards, statuses);
    lagsOf(this.shards, statuses, nowMs);
    if (++this.calmTicks >= CALM_TICKS || !this.isCalm(statuses, nowMs)) this.tick();
  }

  /** True if nothing happens here, or to another member, that a tick would act on. */
  private isCalm(statuses: readonly ShardStatus[], nowMs: number): boolean {
    const { watch, membership, planner, ownership } = this;
    return !watch.isAnyStuck && !membership.isAnySuspect(nowMs) && !planner.isProposing && ownership.isCalm(statuses);
  }

  private tick(): void {
    const { view } = this.membership;
    const nowMs = this.deps.clock.monotonicMs();
    this.calmTicks = 0;
    if (view === undefined) return;
    this.missing.look(view, (tag) => tag !== this.deps.tag && this.watch.isGone(tag, nowMs));
    this.ownership.tick();
    this.planner.tick(view, this.ownership.lost());
  }

  private viewed(view: RegistryView): void {
    const { tag } = this.deps;
    this.history.note(view, this.deps.clock.now());
    this.retentions.viewed(view);
    const peers = new Map<string, PeerAddress>();
    for (const [other, { host, port }] of view.members) {
      this.everMembers.add(other);
      if (other !== tag) peers.set(other, { host, port });
    }
    this.links.keep(peers);
    this.watch.keepOnly(new Set(peers.keys()), this.deps.clock.monotonicMs());
    for (const other of this.downSinceMs.keys()) if (!peers.has(other)) this.downSinceMs.delete(other);
    // Ignore records of former members, because an ownership record outlives its member.
    const claims = [...view.claims].filter(([, claim]) => view.members.has(claim.tag));
    this.routes.claims(claims.map(([shard, claim]) => [shard, claim.tag]));
    if (view.plan !== undefined) this.deps.local.allowFormat(view.plan.format);
    this.ownership.reclaim();
    this.warnOfDifferences(view);
    this.router.flush();
    this.tick();
  }

  onMessage(tag: string, message: PeerMessage): void {
    if (!isKnownMessage(message)) {
      this.answerUnknown(tag, message);
      return;
    }
    switch (message.type) {
      case 'pulse':
        this.pulsed(tag, message);
        return;
      case 'calls':
        this.callServer.carryOut(tag, message.callbacks);
        return;
      case 'asks':
        this.callServer.answer(tag, message.requests);
        return;
      case 'replies':
      case 'results':
        this.router.receive(tag, message);
        return;
      case 'want':
        this.ownership.wanted(message.shard, tag, message.sequence);
        return;
      case 'take':
        this.ownership.offered(message.shard, message.head, message.untilMs);
        return;
      case 'own':
        this.routes.opened(tag, message.shard, message.epoch);
        this.ownership.ownedBy(tag, message.shard, message.epoch);
        this.router.flush();
        return;
      case 'look':
        this.membership.look();
        return;
      case 'snap':
        void this.snapshots.asked(tag, message.id);
        return;
      case 'snapped':
        this.snapshots.answered(message.id, message.results);
        return;
      case 'out':
        this.deps.signedOut.note(message.signedOut);
        return;
      case 'unknown':
        if (message.id === undefined || message.id === null) return;
        if (message.of === 'snap') this.snapshots.unknown(message.id);
        return;
    }
  }

  /** Answers a newer member's message, so that the member does not wait. The link and the other messages are not affected. */
  private answerUnknown(tag: string, message: unknown): void {
    const { type, id, callbacks } = (message ?? {}) as Readonly<Record<string, unknown>>;
    const of = typeof type === 'string' ? type : typeof type;
    this.deps.log.debug({ peer: tag, type: of }, 'message of a newer release is not known here');
    if (of === 'calls') this.callServer.refuse(tag, callbacks);
    // Otherwise two nodes would answer each other's answers for ever.
    else if (of !== 'unknown') {
      this.links.send(tag, { type: 'unknown', of, id: isCount(id) ? (id as number) : undefined });
    }
  }

  onUp(tag: string): void {
    this.downSinceMs.delete(tag);
    this.links.send(tag, this.newHeartbeat());
    const signedOut = this.deps.signedOut.all;
    if (signedOut.length > 0) this.links.send(tag, { type: 'out', signedOut });
  }

  onDown(tag: string): void {
    this.peers.delete(tag);
    this.routes.gone(tag);
    this.clocks.forget(tag);
    this.times.forget(tag);
    this.pauses.linkLost(tag);
    this.callServer.linkLost(tag);
    this.snapshots.linkLost(tag);
    this.router.linkLost(tag);
  }

  onRefused(tag: string): void {
    this.watch.refused(tag);
  }

  private pulsed(tag: string, { clockMs, nowMs, serving, stuck, seesTable }: LinkHeartbeat): void {
    const { clock } = this.deps;
    this.checkPause(tag, clockMs);
    const ourMs = clock.monotonicMs();
    this.watch.heard(tag, stuck, ourMs);
    this.clocks.heard(tag, clockMs, ourMs);
    this.times.heard(tag, nowMs, clock.now());
    this.checkTime();
    this.peers.set(tag, { seesTable });
    this.routes.pulsed(
      tag,
      serving.map(({ shard, head }) => [shard, head.lsn.epoch]),
    );
    for (const { shard, head } of serving) {
      const one = this.shards[shard];
      if (one !== undefined) noteAcknowledged(one, head);
      // Repeat the announcement, because the `own` message of this shard may have been lost while the link was down.
      this.ownership.ownedBy(tag, shard, head.lsn.epoch);
    }
    this.router.flush();
  }

  private sendHeartbeat(): void {
    this.broadcast(this.newHeartbeat());
  }

  private newHeartbeat(): LinkHeartbeat {
    const { clock, local } = this.deps;
    return {
      type: 'pulse',
      clockMs: clock.monotonicMs(),
      nowMs: clock.now(),
      serving: local
        .status()
        .flatMap(({ shard, state, head }) => (state === 'serving' && head !== undefined ? [{ shard, head }] : [])),
      stuck: [...new Set([...this.ownership.stuck(), ...this.ownership.lost(), ...this.ownership.refused()])],
      seesTable: this.membership.seesTable,
    };
  }

  private broadcast(message: PeerMessage): void {
    for (const tag of this.membership.view?.members.keys() ?? []) this.links.send(tag, message);
  }

  private served(shard: number, epoch: number | undefined): void {
    const { tag } = this.deps;
    if (epoch === undefined) this.routes.denied(tag, shard);
    else this.routes.opened(tag, shard, epoch);
    this.router.flush();
  }

  private record(): MemberRecord {
    const { about, local, clock } = this.deps;
    const nowMs = clock.monotonicMs();
    if (local.isMemoryFull) this.fullUntilMs = nowMs + FULL_MS;
    return {
      ...about,
      port: this.port,
      isLeaving: this.isLeaving,
      isFull: nowMs < this.fullUntilMs,
      hasRoom: !local.isMemoryFull,
      isTimeWrong: this.times.outlyingMs > TIME_MAX_MS,
      unreachable: this.unreachable(nowMs),
    };
  }

  /** Members whose heartbeats arrive in the registry but that have had no link to this node for a while. */
  private unreachable(nowMs: number): string[] {
    const unreachable: string[] = [];
    for (const tag of this.membership.view?.members.keys() ?? []) {
      const isDown = tag !== this.deps.tag && !this.links.isUp(tag) && !this.watch.isGone(tag, nowMs);
      if (!isDown) {
        this.downSinceMs.delete(tag);
        continue;
      }
      const sinceMs = this.downSinceMs.get(tag) ?? nowMs;
      this.downSinceMs.set(tag, sinceMs);
      if (nowMs - sinceMs >= UNREACHABLE_MS) unreachable.push(tag);
    }
    return unreachable.sort();
  }

  /** Warns once about each member that has different decision rules. */
  private warnOfDifferences({ members }: RegistryView): void {
    const { about, log, tag } = this.deps;
    for (const [other, { name, rulesHash }] of members) {
      if (other === tag || rulesHash === about.rulesHash || this.warned.has(other)) continue;
      this.warned.add(other);
      log.warn({ code: 'rules-differ', node: name }, 'node has different rules, may decide callbacks differently');
    }
  }

  /**
   * Detects a pause of this machine and advances the clock. Actions that began before the pause then expire here at the
   * same time as on other nodes.
   */
  private checkPause(tag: string, theirMs: number): void {
    const { clock, addMissedTime, log } = this.deps;
    const missedMs = this.pauses.heard(tag, theirMs, clock.monotonicMs());
    if (missedMs === 0) return;
    const pausedMs = clock.monotonicMs();
    addMissedTime(missedMs);
    this.clocks.forgetAll();
    // Limit how often the pause is logged, because the delayed heartbeats reveal its length only step by step.
    if (pausedMs - this.pauseLoggedMs < PAUSE_LOG_MS) return;
    this.pauseLoggedMs = pausedMs;
    log.warn({ code: 'machine-paused', missedMs: Math.round(missedMs) }, 'machine was paused, adding the missed time');
  }

  private checkTime(): void {
    const { behindMs } = this.times;
    const isWrong = Math.abs(behindMs) > TIME_WARN_MS;
    if (isWrong && !this.isTimeWrong) {
      this.deps.log.warn(
        { code: 'clock-differs', behindMs: Math.round(behindMs) },
        "this machine's clock differs from the clocks of the other nodes",
      );
    }
    this.isTimeWrong = isWrong;
  }

  /**
   * Detects that a process outside the cluster has taken all shards: a walletd that is not in a cluster, or a different
   * cluster.
   */
  private async checkForeignOwners(shard: number, takenBy: string, head: Head): Promise<void> {
    const { headOf, onForeignOwners } = this.deps;
    if (this.isMember(tagOf(head))) return;
    // Wait, because the process may be a new member, which appears in the registry within this time.
    await delay(this.deps.timers, 2 * HEARTBEAT_MS);
    const heads = await Promise.all(this.shards.map((other) => headOf(other.shard))).catch(() => []);
    if (heads.length > 0 && heads.every((one) => !this.isMember(tagOf(one)))) onForeignOwners(shard, takenBy);
  }

  private isMember(tag: string): boolean {
    return tag === this.deps.tag || this.everMembers.has(tag);
  }
}
