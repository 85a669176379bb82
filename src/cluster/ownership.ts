import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { messageOf } from '../base/message-of.js';
import { delay, type Timers } from '../base/timers.js';
import { formatLsn } from '../shard/log/lsn.js';
import { type Head, isSameHead, type SealedEntry } from '../shard/log/wal.js';
import { HANDOVER_MS, type Move, type MoveResult, type ShardStatus, type Shards } from '../worker/shards.js';
import { SEAL_USED_MS } from './copy-keeper.js';
import type { Gathered } from './peer-copies.js';
import type { PeerMessage } from './peer-protocol.js';
import { NOBODY } from './plan.js';
import { type Holder, nextStep, type Role, type ShardFacts, type Step } from './steps.js';
import type { Claim, TableView } from './table.js';
import type { Told } from './told.js';
import { STUCK_MS, type Watch } from './watch.js';

/** What became of shards, for metrics. */
export interface OwnershipObserver {
  /** It serves the shard since `tookMs` after it began to take it. */
  taken(shard: number, how: 'handed-over' | 'taken', tookMs: number): void;
  /** It has paused the shard for so long: `isHanded` says whether another one has it now. */
  paused(shard: number, pausedMs: number, isHanded: boolean): void;
}

export interface OwnershipDeps {
  readonly tag: string;
  readonly shardCount: number;
  readonly local: Pick<Shards, 'move' | 'status' | 'isMemoryFull'>;
  readonly watch: Watch;
  readonly told: Told;
  /** Undefined before the table has answered. */
  readonly view: () => TableView | undefined;
  readonly isLinked: (tag: string) => boolean;
  readonly send: (tag: string, message: PeerMessage) => boolean;
  readonly broadcast: (message: PeerMessage) => void;
  /** Shards of one lane are on one server; see `Wal.laneOf`. */
  readonly laneOf: (shard: number) => number;
  /** Its head, now; rejects during an outage. */
  readonly headOf: (shard: number) => Promise<Head>;
  /** A time of this node's monotonic clock on that of a peer; undefined before its first pulse. */
  readonly toTheirClock: (tag: string, ourMs: number) => number | undefined;
  readonly claim: (shard: number, claim: Claim) => Promise<void>;
  readonly release: (shard: number, claim: Claim) => Promise<void>;
  /** What is held of a log that is about to be fenced, behind `sequence`. */
  readonly copiesOf: (shard: number, sequence: number) => Promise<Gathered>;
  /** This node does not fence it after all. */
  readonly unseal: (shard: number) => void;
  /** Some nodes hold copies, and seal those of a log that is about to be fenced. */
  readonly hasSeals: () => boolean;
  /** False while this node's time cannot be trusted: it takes nothing then. */
  readonly isClockSane: () => boolean;
  /** This node serves a shard, or does not any more. */
  readonly onServed: (shard: number, epoch: number | undefined) => void;
  readonly observer: OwnershipObserver;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
}

/** One shard, as this node deals with it. */
interface Dealing {
  readonly shard: number;
  /** A step is on its way. */
  isBusy: boolean;
  /** It is being read, and how. */
  reading: 'follow' | 'bring' | undefined;
  /** Of the last hand-over that its heir did not take. */
  keptMs: number;
  /** Since when it could take the shard; undefined while it could not. */
  readySinceMs: number | undefined;
  /** Since when it leaves the shard to an owner that lives, because it lacks the names of the archive. */
  namelessSinceMs: number | undefined;
  /** Since when it is to take the shard, and its log does not answer; undefined while it does. */
  unseenSinceMs: number | undefined;
  /** Since when its log lacks what was told. */
  shortSinceMs: number | undefined;
  /** Since when it cannot be taken because somebody who may hold a part of its log does not answer. */
  uncopiedSinceMs: number | undefined;
  /** Times in a row that its log could not be continued: it may have been trimmed meanwhile, or be about to be mended. */
  failures: number;
  /** Since when its heir lives and cannot be reached. */
  heirAwaySinceMs: number | undefined;
  /** When its thread ended, which served it. */
  lostMs: number;
  /** The head that its log had when it was stopped here. */
  stoppedAt: Head | undefined;
  /** When it was looked at last. */
  lookedMs: number;
  /** When it was asked for last. */
  wantedMs: number;
  /** Called when a peer says that it serves the shard, since this epoch. */
  onOwn: ((tag: string, epoch: number) => void) | undefined;
  /** A problem that has been logged. */
  problem: string | undefined;
}

type Take = Extract<Move, { readonly type: 'take' }>;

/** Of the hexadecimal digits of a nonce those that tell its process from every other. */
const TAG_LENGTH = 8;
/** Entries that an heir may lack: what it reads while the owner pauses. */
const LAG_MAX = 64;
const HANDOVERS_MAX = 2;
/** A flight that takes so long says something about its server. */
const WAITING_MS = 500;
/** An offer is good for so long: who made it goes on before, which shows in the log, or in what others hold of it. */
const OFFER_MS = 500;
const WANT_MS = 200;
/** Whose heir was too slow serves for so long before the next pause: it would be paused most of the time otherwise. */
const KEPT_MS = 1000;
const LOOK_MS = 50;
/** An owner that lost its log's tail in a failover puts it back itself. */
const SHORT_WAIT_MS = 5000;
/** Who lives and does not answer for so long is not waited for: a log loses its end in a failover only. */
const UNCOPIED_MS = 3000;
const FAILURES_MAX = 4;
/** Names of an archive that answers are known sooner. */
const NAMELESS_MS = 3000;
/** In the place of a time: the log has it. */
const TOLD = Number.NEGATIVE_INFINITY;
/** For so long it is left to those who follow it. */
const LOST_MS = 3000;
const PERMANENT_REST_MS = 1500;

/** Takes, hands over, follows and leaves shards, so that this node has what the plan says. */
export class Ownership {
  private readonly dealings: readonly Dealing[];
  /** The epoch since which each shard is served here. */
  private readonly served = new Map<number, number>();
  /** Of each shard that was let go of the epoch that it was served in, until the table says so. */
  private readonly released = new Map<number, number>();
  private handovers = 0;
  private hasEnded = false;

  constructor(private readonly deps: OwnershipDeps) {
    this.dealings = Array.from({ length: deps.shardCount }, (_, shard) => ({
      shard,
      isBusy: false,
      reading: undefined,
      keptMs: Number.NEGATIVE_INFINITY,
      readySinceMs: undefined,
      namelessSinceMs: undefined,
      unseenSinceMs: undefined,
      shortSinceMs: undefined,
      uncopiedSinceMs: undefined,
      failures: 0,
      lostMs: Number.NEGATIVE_INFINITY,
      stoppedAt: undefined,
      heirAwaySinceMs: undefined,
      lookedMs: Number.NEGATIVE_INFINITY,
      wantedMs: Number.NEGATIVE_INFINITY,
      onOwn: undefined,
      problem: undefined,
    }));
  }

  serves(shard: number): boolean {
    return this.served.has(shard);
  }

  /** Those that it serves, and those that are on their way to another node. */
  get heldCount(): number {
    return this.deps.local.status().filter(({ state }) => state === 'serving' || state === 'handing').length;
  }

  /** Something has changed, or some time has passed. Without a plan everything stays as it is. */
  tick(): void {
    const view = this.deps.view();
    if (view === undefined || this.hasEnded) return;
    const nowMs = this.deps.clock.monotonicMs();
    const all = this.deps.local.status();
    const bringsOwn = all.some((status) => this.isOwnOnTheWay(status, view));
    for (const status of all) {
      const dealing = this.dealing(status.shard);
      if (!dealing.isBusy) this.noteStatus(status);
      if (dealing.reading === 'follow' && this.isAwaited(dealing)) this.hurry(dealing);
      if (dealing.isBusy || view.plan === undefined) continue;
      this.lookAhead(dealing, view, nowMs);
      const facts = this.factsOf(dealing, status, view, nowMs, bringsOwn);
      const step = nextStep(facts);
      if (step !== undefined) this.begin(dealing, step, facts, nowMs);
    }
  }

  /** It is to own the shard, and has read its log up to `sequence`. */
  wanted(shard: number, by: string, sequence: number): void {
    const { view, local } = this.deps;
    const dealing = this.dealings[shard];
    if (dealing === undefined || dealing.isBusy || view()?.plan?.owners[shard] !== by) return;
    const status = local.status()[shard];
    if (status?.state !== 'serving' || this.handovers >= HANDOVERS_MAX) return;
    if (this.deps.clock.monotonicMs() - dealing.keptMs < KEPT_MS) return;
    if ((status.head?.lsn.sequence ?? 0) - sequence > LAG_MAX) return;
    void this.handOver(dealing, by);
  }

  /** Its owner has stopped at `head`, for this node to take it before `untilMs`. */
  offered(shard: number, head: Head, untilMs: number): void {
    const dealing = this.dealings[shard];
    if (dealing === undefined || dealing.isBusy || this.roleIn(shard, this.deps.view()) !== 'owner') return;
    void this.busily(dealing, () => this.takeOffered(dealing, head, untilMs));
  }

  /**
   * Who hands over has told nothing that the offer does not say, but goes on when the fence is slow: what it tells then must not
   * be held by somebody who was not asked.
   */
  private async takeOffered(dealing: Dealing, head: Head, untilMs: number): Promise<void> {
    const { clock, hasSeals, copiesOf, unseal } = this.deps;
    const behind = head.lsn.sequence;
    const offer = { over: head, behind, untilMs, how: 'handed-over' } as const;
    if (!hasSeals()) return await this.fence(dealing, { ...offer, copies: [] });
    const isOver = () => clock.monotonicMs() >= untilMs;
    if (isOver()) return;
    const gathered = await copiesOf(dealing.shard, behind);
    // A seal that nothing comes of would hold up the owner.
    if (gathered === 'sealed' || gathered.isSilent || isOver()) unseal(dealing.shard);
    else await this.fence(dealing, { ...offer, copies: gathered.copies });
  }

  /** A peer serves the shard, since the fence of this epoch. */
  ownedBy(tag: string, shard: number, epoch: number): void {
    const dealing = this.dealings[shard];
    if (dealing === undefined) return;
    dealing.onOwn?.(tag, epoch);
    const mine = this.served.get(shard);
    if (mine === undefined || mine >= epoch || dealing.isBusy) return;
    // Its log is not asked: a failover that has lost the other one's fence would say that it is still ours.
    void this.move({ type: 'abandon', shard });
  }

  /** Its log has another owner, as this one found when it appended. */
  fenced(shard: number, head: Head): void {
    this.deps.watch.headSeen(shard, head, this.deps.clock.monotonicMs());
    this.setServed(shard, undefined);
  }

  /** Looks whether the logs still are its own. */
  confirmAll(): void {
    for (const shard of this.served.keys()) void this.move({ type: 'confirm', shard });
  }

  /** Lets go of everything that it serves, for whoever is to have it, and takes nothing any more. */
  async end(): Promise<void> {
    this.hasEnded = true;
    await Promise.all([...this.served.keys()].map((shard) => this.releaseNow(this.dealing(shard))));
  }

  /** Shards that it serves, or is to take, and whose logs do not answer. */
  stuck(): number[] {
    const nowMs = this.deps.clock.monotonicMs();
    return this.deps.local.status().flatMap(({ shard, flightMs }) => {
      const unseenMs = nowMs - (this.dealing(shard).unseenSinceMs ?? nowMs);
      return Math.max(flightMs, unseenMs) >= STUCK_MS ? [shard] : [];
    });
  }

  /** Shards that it is to take, and has found no memory for. */
  refused(): number[] {
    const { local, view } = this.deps;
    if (!local.isMemoryFull) return [];
    return local.status().flatMap(({ shard, state }) => {
      const isRefused = state === 'away' && this.dealing(shard).problem !== undefined;
      return isRefused && this.roleIn(shard, view()) === 'owner' ? [shard] : [];
    });
  }

  /** Shards of this node whose thread has ended a moment ago: who follows them has them sooner than this node. */
  lost(): number[] {
    const nowMs = this.deps.clock.monotonicMs();
    return this.dealings.flatMap((dealing) => (this.isLost(dealing, nowMs) ? [dealing.shard] : []));
  }

  private isLost({ shard, lostMs }: Dealing, nowMs: number): boolean {
    const { view, watch } = this.deps;
    const followers = view()?.plan?.followers[shard] ?? [];
    return nowMs - lostMs < LOST_MS && followers.some((tag) => !watch.isGone(tag, nowMs));
  }

  /**
   * Whether this node could serve the shard, whoever has it now: its log answers, and no flight to the same server waits, as
   * they all do when that server or its replicas are slow.
   */
  reaches(shard: number): boolean {
    const { watch, clock, local, laneOf } = this.deps;
    if (!watch.isReachedSteadily(shard, clock.monotonicMs())) return false;
    const lane = laneOf(shard);
    return !local.status().some((other) => laneOf(other.shard) === lane && other.flightMs >= WAITING_MS);
  }

  /** Writes again what the table does not know: what is served here, and what was let go of. */
  reclaim({ claims }: TableView): void {
    const { tag, claim } = this.deps;
    for (const [shard, epoch] of this.released) {
      const found = claims.get(shard);
      const isKnown = found !== undefined && (found.epoch > epoch || (found.epoch === epoch && found.tag !== tag));
      if (isKnown) this.released.delete(shard);
      else this.writeReleased(shard, epoch).catch(() => {});
    }
    for (const [shard, epoch] of this.served) {
      const found = claims.get(shard);
      if (found === undefined || found.epoch < epoch) claim(shard, { epoch, tag }).catch(() => {});
    }
  }

  private dealing(shard: number): Dealing {
    return this.dealings[shard] as Dealing;
  }

  /** Follows what the shard has done by itself: it may have failed and come back, or be gone with its thread. */
  private noteStatus({ shard, state, head }: ShardStatus): void {
    if (head !== undefined && state === 'serving') this.deps.told.note(shard, head);
    const epoch = state === 'serving' ? head?.lsn.epoch : undefined;
    if (state === 'away' && this.served.has(shard)) this.dealing(shard).lostMs = this.deps.clock.monotonicMs();
    if (this.served.get(shard) !== epoch) this.setServed(shard, epoch);
  }

  private setServed(shard: number, epoch: number | undefined): void {
    const { tag, claim, broadcast, onServed } = this.deps;
    if (epoch === undefined) {
      if (this.served.delete(shard)) onServed(shard, undefined);
      return;
    }
    this.served.set(shard, epoch);
    this.released.delete(shard);
    onServed(shard, epoch);
    broadcast({ type: 'own', shard, epoch });
    // One that gets lost is written again when the table is seen to lack it.
    claim(shard, { epoch, tag }).catch(() => {});
  }

  /** Where an owner may be gone it saves time to know already that its log is still. */
  private lookAhead(dealing: Dealing, { claims }: TableView, nowMs: number): void {
    const { shard } = dealing;
    const { watch, tag } = this.deps;
    const owner = claims.get(shard)?.tag;
    if (owner === undefined || owner === NOBODY || owner === tag) return;
    if (watch.isSuspect(owner, nowMs) || watch.isStuck(owner, shard)) this.look(dealing, nowMs);
  }

  private roleIn(shard: number, view: TableView | undefined): Role {
    const { tag } = this.deps;
    if (view?.plan?.owners[shard] === tag) return 'owner';
    return view?.plan?.followers[shard]?.includes(tag) ? 'follower' : 'none';
  }

  /** It is to be served here, and nothing has kept its wallets from coming so far. */
  private isOwnOnTheWay({ shard, state }: ShardStatus, view: TableView): boolean {
    return state === 'away' && this.dealing(shard).problem === undefined && this.roleIn(shard, view) === 'owner';
  }

  private factsOf(
    dealing: Dealing,
    status: ShardStatus,
    view: TableView,
    nowMs: number,
    bringsOwn: boolean,
  ): ShardFacts {
    const { shard } = dealing;
    const role = this.roleIn(shard, view);
    const isReady = role === 'owner' && status.state === 'following' && this.deps.isClockSane();
    const holder = isReady ? this.holderOf(shard, view, nowMs) : 'unknown';
    this.noteNames(dealing, status.lacksNames && holder === 'alive', nowMs);
    dealing.readySinceMs = isReady && !status.lacksNames ? (dealing.readySinceMs ?? nowMs) : undefined;
    const isUnseen = isReady && this.deps.watch.headOf(shard) === undefined;
    dealing.unseenSinceMs = isUnseen ? (dealing.unseenSinceMs ?? nowMs) : undefined;
    this.noteHeir(dealing, view.plan?.owners[shard] ?? NOBODY, nowMs);
    return {
      role,
      local: status.state,
      bringsOwn,
      holder,
      isStill: this.deps.watch.isStill(shard, nowMs),
      hasMoved: this.hasMoved(dealing, status),
      lacksNames: status.lacksNames,
      readyForMs: nowMs - (dealing.readySinceMs ?? nowMs),
      heirAwayForMs: nowMs - (dealing.heirAwaySinceMs ?? nowMs),
    };
  }

  /** An owner that lives takes new bets, which this node could not. */
  private noteNames(dealing: Dealing, isLeft: boolean, nowMs: number): void {
    const sinceMs = dealing.namelessSinceMs;
    dealing.namelessSinceMs = isLeft ? (sinceMs ?? nowMs) : undefined;
    if (!isLeft || sinceMs === undefined || sinceMs === TOLD || nowMs - sinceMs < NAMELESS_MS) return;
    dealing.namelessSinceMs = TOLD;
    this.deps.log.warn(
      { code: 'shard-left-to-owner', shard: dealing.shard },
      'archive cannot name its rounds, shard stays with its owner',
    );
  }

  /** Since it was stopped. */
  private hasMoved(dealing: Dealing, { state }: ShardStatus): boolean {
    const head = this.deps.watch.headOf(dealing.shard);
    dealing.stoppedAt = state === 'stopped' ? (dealing.stoppedAt ?? head) : undefined;
    return head !== undefined && dealing.stoppedAt !== undefined && !isSameHead(head, dealing.stoppedAt);
  }

  private noteHeir(dealing: Dealing, heir: string, nowMs: number): void {
    const { tag, watch, isLinked } = this.deps;
    const isAway = heir !== NOBODY && heir !== tag && !isLinked(heir) && !watch.isGone(heir, nowMs);
    dealing.heirAwaySinceMs = isAway ? (dealing.heirAwaySinceMs ?? nowMs) : undefined;
  }

  private holderOf(shard: number, view: TableView, nowMs: number): Holder {
    const { tag, watch } = this.deps;
    const head = watch.headOf(shard);
    if (head === undefined) return 'unknown';
    const holder = tagOf(head);
    const claim = view.claims.get(shard);
    if (head.lsn.epoch === 0 || (claim?.epoch === head.lsn.epoch && claim.tag === NOBODY)) return 'nobody';
    if (holder === tag) return 'me';
    if (watch.isStuck(holder, shard)) return 'stuck';
    return watch.isGone(holder, nowMs) ? 'gone' : 'alive';
  }

  private begin(dealing: Dealing, step: Step, { holder }: ShardFacts, nowMs: number): void {
    const { shard } = dealing;
    switch (step) {
      case 'look':
        this.look(dealing, nowMs);
        return;
      case 'want':
        this.look(dealing, nowMs);
        this.want(dealing, nowMs);
        return;
      case 'follow':
        if (this.isLost(dealing, nowMs)) return;
        void this.busily(dealing, () => this.follow(dealing));
        return;
      case 'take': {
        const over = holder === 'gone' || holder === 'stuck' ? this.deps.watch.headOf(shard) : undefined;
        void this.busily(dealing, () => this.take(dealing, over));
        return;
      }
      case 'force':
        void this.busily(dealing, () => this.take(dealing, undefined));
        return;
      case 'release':
        void this.releaseNow(dealing);
        return;
      case 'resume':
      case 'leave':
        void this.busily(dealing, () => this.change(dealing, step));
        return;
    }
  }

  /** One step at a time; the next one follows at once. */
  private async busily(dealing: Dealing, run: () => Promise<void>): Promise<void> {
    dealing.isBusy = true;
    try {
      await run();
    } finally {
      dealing.isBusy = false;
    }
    this.tick();
  }

  private move(move: Move): Promise<MoveResult> {
    return this.deps.local.move(move);
  }

  private look(dealing: Dealing, nowMs: number): void {
    if (nowMs - dealing.lookedMs < LOOK_MS) return;
    dealing.lookedMs = nowMs;
    const { headOf, watch, clock } = this.deps;
    headOf(dealing.shard).then(
      (head) => watch.headSeen(dealing.shard, head, clock.monotonicMs()),
      () => watch.headUnseen(dealing.shard),
    );
  }

  private want(dealing: Dealing, nowMs: number): void {
    if (nowMs - dealing.wantedMs < WANT_MS) return;
    dealing.wantedMs = nowMs;
    const { shard } = dealing;
    const head = this.deps.watch.headOf(shard);
    const sequence = this.readUpTo(shard);
    if (head !== undefined) this.deps.send(tagOf(head), { type: 'want', shard, sequence });
  }

  /** The sequence up to which its log is here; 0: nothing of it. */
  private readUpTo(shard: number): number {
    return this.deps.local.status()[shard]?.head?.lsn.sequence ?? 0;
  }

  private async change({ shard }: Dealing, type: 'resume' | 'leave'): Promise<void> {
    const result = await this.move({ type, shard });
    // Its thread has ended: without a rest it would be asked for nothing else any more.
    if (result.type === 'failed') await delay(this.deps.timers, WANT_MS);
  }

  /** It is to serve a shard that nobody serves: callbacks wait for it. */
  private isAwaited({ shard }: Dealing): boolean {
    const { tag, watch, clock } = this.deps;
    const view = this.deps.view();
    if (this.roleIn(shard, view) !== 'owner') return false;
    const owner = view?.claims.get(shard)?.tag ?? NOBODY;
    if (owner === NOBODY || owner === tag) return true;
    return watch.isGone(owner, clock.monotonicMs()) || watch.isStuck(owner, shard);
  }

  /** Its owner has gone while it was read with rests. */
  private hurry(dealing: Dealing): void {
    dealing.reading = 'bring';
    void this.move({ type: 'bring', shard: dealing.shard });
  }

  private async follow(dealing: Dealing): Promise<void> {
    const type = this.isAwaited(dealing) ? 'bring' : 'follow';
    dealing.reading = type;
    const result = await this.move({ type, shard: dealing.shard });
    dealing.reading = undefined;
    if (result.type !== 'failed') {
      dealing.problem = undefined;
      dealing.failures = 0;
      return;
    }
    await this.noteFailure(dealing, result);
  }

  private async take(dealing: Dealing, over: Head | undefined): Promise<void> {
    const startedMs = this.deps.clock.monotonicMs();
    const behind = this.readUpTo(dealing.shard);
    const copies = await this.maybeCopies(dealing, behind, startedMs);
    if (copies === undefined) {
      await delay(this.deps.timers, LOOK_MS);
      return;
    }
    dealing.uncopiedSinceMs = undefined;
    // Without seals the log alone says who may tell: a slow one is fenced as well as any other.
    const untilMs = this.deps.hasSeals() ? startedMs + SEAL_USED_MS : Number.POSITIVE_INFINITY;
    await this.fence(dealing, { over, copies, untilMs, behind, how: 'taken' });
  }

  private async fence(
    dealing: Dealing,
    { how, ...fence }: Pick<Take, 'over' | 'copies' | 'untilMs' | 'behind'> & { readonly how: 'handed-over' | 'taken' },
  ): Promise<void> {
    const { shard } = dealing;
    const { clock, watch, observer, log, told } = this.deps;
    const startedMs = clock.monotonicMs();
    const result = await this.move({ type: 'take', shard, ...fence, told: told.of(shard) });
    switch (result.type) {
      case 'taken': {
        const tookMs = clock.monotonicMs() - startedMs;
        dealing.problem = undefined;
        dealing.shortSinceMs = undefined;
        dealing.failures = 0;
        this.setServed(shard, result.head.lsn.epoch);
        observer.taken(shard, how, tookMs);
        log.info({ shard, epoch: result.head.lsn.epoch, how, tookMs: Math.round(tookMs) }, 'shard taken');
        return;
      }
      case 'conflict':
        watch.headSeen(shard, result.head, clock.monotonicMs());
        // Its owner has gone on.
        if (how === 'handed-over') this.deps.unseal(shard);
        return;
      case 'short':
        watch.headSeen(shard, result.head, clock.monotonicMs());
        await this.noteShort(dealing, result.head);
        return;
      case 'failed':
        await this.noteFailure(dealing, result);
        return;
      default:
        return;
    }
  }

  /** Undefined while it is worth waiting for somebody who may hold what the log has lost. */
  private async maybeCopies(
    dealing: Dealing,
    behind: number,
    nowMs: number,
  ): Promise<readonly (readonly SealedEntry[])[] | undefined> {
    const { shard } = dealing;
    const { log } = this.deps;
    const gathered = await this.deps.copiesOf(shard, behind);
    if (gathered === 'sealed') return undefined;
    if (!gathered.isSilent) return gathered.copies;
    dealing.uncopiedSinceMs ??= nowMs;
    if (nowMs - dealing.uncopiedSinceMs < UNCOPIED_MS) return undefined;
    log.warn({ code: 'copies-silent', shard }, 'peer holding copies did not answer, taking over with the other copies');
    return gathered.copies;
  }

  /** Who has told of more may still live, and puts it back. */
  private async noteShort(dealing: Dealing, head: Head): Promise<void> {
    const { clock, told } = this.deps;
    const nowMs = clock.monotonicMs();
    dealing.shortSinceMs ??= nowMs;
    const { shard } = dealing;
    if (nowMs - dealing.shortSinceMs < SHORT_WAIT_MS) {
      await delay(this.deps.timers, WANT_MS);
      return;
    }
    const { lsn } = told.of(shard) ?? head;
    const by = this.deps.view()?.members.get(tagOf(head))?.name ?? `the process ${tagOf(head)}`;
    const reason =
      lsn.sequence > head.lsn.sequence
        ? `its log ends at ${formatLsn(head.lsn)}, but ${formatLsn(lsn)} was told by ${by}: ` +
          'start that node, if it still has what is missing, or run walletd accept-loss'
        : `its log has something else in the place of ${formatLsn(lsn)}, which was told: run walletd accept-loss`;
    await this.move({ type: 'stop', shard, reason });
  }

  private async noteFailure(dealing: Dealing, { reason, isPermanent }: Extract<MoveResult, { type: 'failed' }>) {
    const { shard } = dealing;
    const isMine = this.roleIn(shard, this.deps.view()) === 'owner';
    if (isPermanent && isMine && ++dealing.failures >= FAILURES_MAX) {
      await this.move({ type: 'stop', shard, reason });
      return;
    }
    if (dealing.problem !== reason)
      this.deps.log.warn(
        { code: 'shard-move-failed', shard, reason },
        'shard cannot be loaded or taken over, will retry',
      );
    dealing.problem = reason;
    await delay(this.deps.timers, isPermanent ? PERMANENT_REST_MS : WANT_MS);
  }

  /** Stops at the head that the log has then, and lets the other one fence over exactly that. */
  private async handOver(dealing: Dealing, to: string): Promise<void> {
    const { shard } = dealing;
    const { clock, observer, timers } = this.deps;
    const startedMs = clock.monotonicMs();
    this.handovers++;
    await this.busily(dealing, async () => {
      const epoch = this.served.get(shard);
      this.setServed(shard, undefined);
      const paused = await this.move({ type: 'pause', shard });
      let isOwned = false;
      const untilMs = this.deps.toTheirClock(to, startedMs + OFFER_MS);
      const isStill = paused.type === 'still' && untilMs !== undefined;
      if (isStill && this.deps.send(to, { type: 'take', shard, head: paused.head, untilMs })) {
        this.deps.told.note(shard, paused.head);
        isOwned = await new Promise<boolean>((resolve) => {
          dealing.onOwn = (tag, newer) => {
            if (tag === to && newer > paused.head.lsn.epoch) resolve(true);
          };
          timers.after(startedMs + HANDOVER_MS - clock.monotonicMs(), () => resolve(false));
        });
        dealing.onOwn = undefined;
      }
      await this.move({ type: isOwned ? 'release' : 'resume', shard });
      observer.paused(shard, clock.monotonicMs() - startedMs, isOwned);
      if (!isOwned) dealing.keptMs = clock.monotonicMs();
      if (!isOwned && epoch !== undefined && this.deps.local.status()[shard]?.state === 'serving') {
        this.setServed(shard, epoch);
      }
    });
    this.handovers--;
  }

  /** For an heir that has no link to this node, or is not known yet. */
  private async releaseNow(dealing: Dealing): Promise<void> {
    const { shard } = dealing;
    const { log } = this.deps;
    const epoch = this.served.get(shard);
    if (dealing.isBusy || epoch === undefined) return;
    await this.busily(dealing, async () => {
      this.setServed(shard, undefined);
      const paused = await this.move({ type: 'pause', shard });
      // What waits for its log for so long may wait for ever where nobody else can be reached to hold it.
      const otherwise = this.stuck().includes(shard) ? 'abandon' : 'resume';
      const type = paused.type === 'still' ? 'release' : otherwise;
      await this.move({ type, shard });
      if (type === 'resume') return;
      this.released.set(shard, epoch);
      await this.writeReleased(shard, epoch).catch((error) => {
        log.warn(
          { code: 'release-not-recorded', shard, error: messageOf(error) },
          'release of a shard cannot be recorded yet',
        );
      });
    });
  }

  /** The table takes the word of who has claimed it, and a claim may have got lost. */
  private async writeReleased(shard: number, epoch: number): Promise<void> {
    const { tag, claim, release } = this.deps;
    await claim(shard, { epoch, tag });
    await release(shard, { epoch, tag });
  }
}

/** Its owner's: each nonce begins with it. */
export function tagOf({ nonce }: Head): string {
  return nonce.slice(0, TAG_LENGTH);
}
