import { AssertionFailure } from '../base/assert.js';
import type { Clock, Logger } from '../base/ports.js';
import { apply } from '../wallet/apply.js';
import { checkWallet } from '../wallet/invariants.js';
import { Wallets } from '../wallet/wallets.js';
import { formatLsn, isSameLsn } from './lsn.js';
import {
  appendOf,
  type Entry,
  type EntryFormat,
  type Fenced,
  type Head,
  isSameHead,
  type Owner,
  type SealedEntry,
  type SealFence,
  type Wal,
} from './ports.js';
import { RecentEntries } from './recent-entries.js';

/** The log cannot be continued as it is. A person has to look; nothing is guessed. */
export class RecoveryError extends Error {
  override readonly name = 'RecoveryError';
}

export interface TakeOverDeps {
  readonly wal: Wal;
  readonly format: EntryFormat;
  readonly clock: Clock;
  readonly log: Logger;
  readonly owner: Owner;
  /** 16 hexadecimal digits: tells this fence from every other. */
  readonly newNonce: () => string;
  readonly delay: (ms: number) => Promise<void>;
}

export interface RecoveryDeps extends TakeOverDeps {
  /** Gives way to other work of the thread. */
  readonly yieldTurn: () => Promise<void>;
  /** Bytes of the newest entries that are kept for a store that can lose them. */
  readonly recentBytesMax: number;
}

/** The log has another owner than this one thought. */
export class FencedError extends RecoveryError {
  constructor(
    readonly shard: number,
    readonly head: Head,
  ) {
    super(`the log of shard ${shard} is not ours any more: its head is ${formatLsn(head.lsn)}`);
  }
}

export interface Recovered {
  readonly wallets: Wallets;
  readonly head: Head;
  readonly timeMs: number;
  /** The newest entries: a store that loses some of them gets them again, whoever wrote them. */
  readonly recent: RecentEntries;
}

const ATTEMPTS_MAX = 10;
const RETRY_MS = 200;
const READ_ENTRIES = 64;
const TURN_MS = 2;

/** Takes shards over, whoever owns them: the start of a process is an act of somebody who wants that. */
export async function takeOver(shards: readonly number[], deps: TakeOverDeps): Promise<readonly Fenced[]> {
  const seal: SealFence = (shard, head, newest) => {
    const newestMs = newest === undefined ? 0 : newestTimeOf(decode(newest, deps));
    return sealFence(shard, head, newestMs, deps);
  };
  return await patiently('take the shards over', deps, () => deps.wal.fence(shards, seal));
}

/**
 * Takes shards over from this very owner, after an assertion or the death of a thread: begins a new epoch, so that no
 * append of the epoch before can still arrive. `heads` are those that this owner knows; throws a `FencedError` where
 * another one is there by now.
 */
export async function fenceAgain(heads: ReadonlyMap<number, Head>, deps: RecoveryDeps): Promise<readonly Fenced[]> {
  const fences: Fenced[] = [];
  for (const [shard, previous] of heads) {
    const newestMs = await timeOfNewest(shard, previous, deps);
    fences.push({ shard, previous, entry: sealFence(shard, previous, newestMs, deps) });
  }
  const appends = fences.map(appendOf);
  // The same bytes go again: a fence that is there already answers "duplicate".
  const outcomes = await patiently('write the fence', deps, async () => {
    const attempted = await deps.wal.append(appends);
    for (const outcome of attempted) if (outcome.type === 'failed') throw outcome.error;
    return attempted;
  });
  outcomes.forEach((outcome, i) => {
    if (outcome.type === 'conflict') throw new FencedError((fences[i] as Fenced).shard, outcome.head);
  });
  return fences;
}

function sealFence(shard: number, previous: Head, newestMs: number, deps: TakeOverDeps): SealedEntry {
  const lsn = { epoch: previous.lsn.epoch + 1, sequence: previous.lsn.sequence + 1 };
  // Time does not go back within a shard, whatever the machine's clock says.
  const timeMs = Math.max(deps.clock.now(), newestMs);
  return deps.format.sealFence({ shard, lsn, nonce: deps.newNonce(), previous, timeMs }, deps.owner);
}

/** The head that a log has now. */
export async function headOf(shard: number, deps: TakeOverDeps): Promise<Head> {
  return await patiently('read the head', deps, () => deps.wal.head(shard));
}

/** True when no other attempt can end otherwise: the log is not as it must be, or we are wrong. */
export function isFinal(error: unknown): boolean {
  return error instanceof RecoveryError || error instanceof AssertionFailure;
}

/** What cannot be read is no weather. */
function decode(bytes: Buffer, { format }: TakeOverDeps): Entry {
  try {
    return format.decode(bytes);
  } catch (error) {
    throw new RecoveryError((error as Error).message);
  }
}

/** Bad weather at the store: tries again, less and less often, and gives up after about ten seconds. */
async function patiently<T>(what: string, deps: TakeOverDeps, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || isFinal(error)) throw error;
      deps.log.warn({ error: (error as Error).message, attempt }, `cannot ${what}; trying again`);
      await deps.delay(RETRY_MS * attempt);
    }
  }
}

/**
 * Rebuilds a shard's state from its log, up to its own fence. Sliced, so that an inline shard does not stop the others.
 */
export async function replay(fenced: Fenced, genesis: Head, deps: RecoveryDeps): Promise<Recovered> {
  const { wal, clock, log } = deps;
  const { shard } = fenced;
  const { head } = fenced.entry;
  const wallets = new Wallets();
  const recent = new RecentEntries(genesis, deps.recentBytesMax);
  const startedMs = clock.monotonicMs();
  let last = genesis;
  let timeMs = 0;
  let events = 0;
  let turnEndsMs = startedMs + TURN_MS;
  while (!isSameHead(last, head)) {
    const page = await patiently('read the log', deps, () => wal.read(shard, last.lsn, READ_ENTRIES));
    if (page.length === 0) {
      throw new RecoveryError(
        `the log of shard ${shard} ends at ${formatLsn(last.lsn)}, before ${formatLsn(head.lsn)}`,
      );
    }
    for (const bytes of page) {
      const entry = decode(bytes, deps);
      checkContinuity(entry, shard, last);
      for (const event of entry.events) apply(wallets, event);
      events += entry.events.length;
      timeMs = newestTimeOf(entry);
      last = entry.head;
      recent.add({ head: last, bytes });
      if (isSameHead(last, head)) break;
      if (clock.monotonicMs() < turnEndsMs) continue;
      await deps.yieldTurn();
      turnEndsMs = clock.monotonicMs() + TURN_MS;
    }
  }
  for (const wallet of wallets) {
    checkWallet(wallet);
    if (clock.monotonicMs() < turnEndsMs) continue;
    await deps.yieldTurn();
    turnEndsMs = clock.monotonicMs() + TURN_MS;
  }
  const tookMs = Math.round(clock.monotonicMs() - startedMs);
  log.info({ shard, lsn: formatLsn(head.lsn), events, players: wallets.count, tookMs }, 'shard recovered');
  return { wallets, head, timeMs, recent };
}

async function timeOfNewest(shard: number, head: Head, deps: RecoveryDeps): Promise<number> {
  if (head.lsn.sequence === 0) return 0;
  const before = { epoch: head.lsn.epoch, sequence: head.lsn.sequence - 1 };
  const [newest] = await patiently('read the log', deps, () => deps.wal.read(shard, before, 1));
  if (newest === undefined) throw new RecoveryError(`the log of shard ${shard} lacks its newest entry`);
  return newestTimeOf(decode(newest, deps));
}

function newestTimeOf(entry: Entry): number {
  return entry.events[entry.events.length - 1]?.timeMs ?? entry.timeMs;
}

/** Every entry must follow the one before it: no hole, no foreign entry, no entry twice. */
function checkContinuity(entry: Entry, shard: number, last: Head): void {
  const at = `entry ${formatLsn(entry.lsn)} of shard ${shard}`;
  const follows = isSameLsn(entry.previousLsn, last.lsn) && entry.previousChecksum === last.checksum;
  if (!follows || entry.lsn.sequence !== last.lsn.sequence + 1 || entry.shard !== shard) {
    throw new RecoveryError(`${at} does not follow ${formatLsn(last.lsn)}: the log has a hole or a foreign entry`);
  }
  const isFence = entry.owner !== undefined;
  const epochFits = isFence ? entry.lsn.epoch > last.lsn.epoch : entry.lsn.epoch === last.lsn.epoch;
  if (!epochFits || (!isFence && entry.nonce !== last.nonce)) {
    throw new RecoveryError(`${at} is not by the owner of its epoch`);
  }
}

/** Who owns the log that ends in `head`, for people to read. */
export async function findOwner(wal: Wal, format: EntryFormat, shard: number, head: Head): Promise<string> {
  const [first] = await wal.read(shard, { epoch: head.lsn.epoch, sequence: 0 }, 1);
  const owner = first === undefined ? undefined : format.decode(first).owner;
  if (owner === undefined) return 'an owner that left no fence';
  return `process ${owner.pid} on ${owner.host}, started ${new Date(owner.startedMs).toISOString()}`;
}
