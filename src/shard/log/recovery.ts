import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { Slices } from '../../base/slices.js';
import { apply } from '../../wallet/apply.js';
import type { Event } from '../../wallet/event.js';
import { checkWallet } from '../../wallet/invariants.js';
import { Wallets } from '../../wallet/state/wallets.js';
import { DamagedSnapshotError, listSnapshots, readSnapshot } from '../snapshot/snapshot-reader.js';
import type { LogMark, Manifest, SnapshotFormat, SnapshotStore } from '../snapshot/snapshot-store.js';
import { decodeEntry, entryAt, firstEntry, newestTimeOf, readLog } from './log-reader.js';
import { compareLsn, formatLsn, isSameLsn, type Lsn } from './lsn.js';
import { type Patience, patiently } from './patience.js';
import { RecentEntries } from './recent-entries.js';
import { LossError, RecoveryError, ShortLogError } from './recovery-error.js';
import { RecoveryProgress } from './recovery-progress.js';
import {
  type Entry,
  type EntryFormat,
  type Head,
  isAt,
  isSameHead,
  type Position,
  type Takeover,
  type Wal,
} from './wal.js';

export interface RecoveryDeps extends Patience {
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly format: EntryFormat;
  readonly snapshotFormat: SnapshotFormat;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives way to other work of the thread. */
  readonly yieldTurn: () => Promise<void>;
  /** Bytes of the newest entries that are kept for a store that can lose them. */
  readonly recentBytesMax: number;
  /** The newest entry of a shard that this node has acknowledged, as its own record says. */
  readonly acknowledged: (shard: number) => Position | undefined;
}

export interface Recovered {
  readonly wallets: Wallets;
  readonly head: Head;
  readonly timeMs: number;
  /** The newest entries: a store that loses some of them gets them again, whoever wrote them. */
  readonly recent: RecentEntries;
  /** Bytes of the log from its first entry of all. */
  readonly logBytes: number;
  /** What was replayed on top of the snapshot: entries with events, and these. */
  readonly tailEntries: number;
  readonly events: number;
  /** Of the newest whole snapshot. */
  readonly marks: readonly LogMark[];
  /** Ids of snapshots that are of no use. */
  readonly damaged: readonly string[];
  /** When that one was whole; undefined where there is none. */
  readonly snapshotMs: number | undefined;
}

/** Where replay begins. */
interface Base {
  readonly wallets: Wallets;
  /** All up to here is in `wallets`. */
  readonly start: Head;
  /** Nothing after this is; undefined without a snapshot. */
  readonly end: Head | undefined;
  /** Ends of this snapshot and of newer ones that are damaged: the log held them all, and must still do. */
  readonly ends: readonly Head[];
  readonly marks: readonly LogMark[];
  readonly damaged: readonly string[];
  /** When the snapshot was whole. */
  readonly snapshotMs: number | undefined;
}

/** Rebuilds a shard that has been taken over, up to its own fence. */
export async function recover({ shard, previous, entry }: Takeover, genesis: Head, deps: RecoveryDeps) {
  return await rebuild({ shard, genesis, found: previous, target: entry.head }, deps);
}

/** What is to be rebuilt. */
export interface Rebuild {
  readonly shard: number;
  readonly genesis: Head;
  /** The head that its log had when it was found. */
  readonly found: Head;
  /** Where replay ends: `found`, or the fence after it. */
  readonly target: Head;
}

/**
 * Rebuilds a shard's state from its newest whole snapshot and the tail of its log. Sliced, so that an inline shard does
 * not stop the others. Rejects with a `RecoveryError` when that cannot be done.
 */
export async function rebuild(what: Rebuild, deps: RecoveryDeps): Promise<Recovered> {
  const { clock, log } = deps;
  const { shard, target } = what;
  const startedMs = clock.monotonicMs();
  const slices = new Slices(clock, deps.yieldTurn);
  await checkAcknowledged(shard, deps);
  const base = await newestBase(what, slices, deps);
  const { wallets } = base;
  const tail = await replayTail(shard, base, target, slices, deps);
  for (const wallet of wallets.touched()) {
    checkWallet(wallet);
    await slices.maybeYield();
  }
  const { events } = tail;
  const tookMs = Math.round(clock.monotonicMs() - startedMs);
  const from = formatLsn(base.start.lsn);
  log.info({ shard, lsn: formatLsn(target.lsn), from, events, players: wallets.count, tookMs }, 'shard recovered');
  const { marks, damaged, snapshotMs } = base;
  return { wallets, head: target, marks, damaged, snapshotMs, ...tail };
}

/** What was acknowledged must be in the log, at its place; or be so old that it has been trimmed. */
async function checkAcknowledged(shard: number, deps: RecoveryDeps): Promise<void> {
  const told = deps.acknowledged(shard);
  if (told === undefined || told.lsn.sequence === 0) return;
  const { lsn } = told;
  const before = { epoch: lsn.epoch, sequence: lsn.sequence - 1 };
  const [bytes] = await patiently('read the log', deps, () => deps.wal.read(shard, before, 1));
  const found = bytes === undefined ? undefined : decodeEntry(bytes, shard, deps.format).head;
  if (found !== undefined && (found.lsn.sequence > lsn.sequence || isAt(found, told))) return;
  const why =
    found !== undefined && isSameLsn(found.lsn, lsn)
      ? 'another entry is in its place, the store was older and has been written to'
      : 'the store is older, or has lost its newest entries';
  throw new LossError(`the log of shard ${shard} lacks ${formatLsn(lsn)}, which this node has acknowledged: ${why}`);
}

async function newestBase({ shard, genesis, found }: Rebuild, slices: Slices, deps: RecoveryDeps): Promise<Base> {
  const { log } = deps;
  const { whole, damaged } = await patiently('list the snapshots', deps, () => listSnapshots(shard, deps));
  for (const { id, reason } of damaged) log.warn({ shard, snapshot: id, reason }, 'snapshot skipped');
  for (const manifest of whole) checkAgainstLog(manifest, found);
  const ends: Head[] = [];
  const useless: string[] = [];
  for (const manifest of whole) {
    const packed = await tryRead(manifest, slices, deps);
    const { id, start, end, marks, timeMs: snapshotMs } = manifest;
    ends.push(end);
    if (packed !== undefined) {
      return { wallets: new Wallets(packed), start, end, ends, marks, damaged: useless, snapshotMs };
    }
    useless.push(id);
  }
  const first = await firstEntry(shard, patientReader(deps));
  if (first !== undefined && first.lsn.sequence !== 1) {
    throw new RecoveryError(
      `the log of shard ${shard} begins with ${formatLsn(first.lsn)}, and there is no whole snapshot to begin with: restore a backup`,
    );
  }
  return {
    wallets: new Wallets(),
    start: genesis,
    end: undefined,
    ends,
    marks: [],
    damaged: useless,
    snapshotMs: undefined,
  };
}

/** Throws a `LossError` when the snapshot holds more than the log with this head. */
export function checkAgainstLog({ id, shard, end }: Manifest, head: Head): void {
  if (compareLsn(end.lsn, head.lsn) <= 0) return;
  throw new LossError(
    `snapshot ${id} of shard ${shard} holds entries up to ${formatLsn(end.lsn)}, but the log ends at ${formatLsn(head.lsn)}: the log has lost what is between`,
  );
}

/** Undefined when it is damaged: there may be an older one. */
async function tryRead(manifest: Manifest, slices: Slices, deps: RecoveryDeps) {
  const { id, shard } = manifest;
  const yieldTurn = () => slices.maybeYield();
  try {
    return await patiently('read a snapshot', deps, () => readSnapshot(manifest, { ...deps, yieldTurn }));
  } catch (error) {
    if (!(error instanceof DamagedSnapshotError)) throw error;
    deps.log.warn({ shard, snapshot: id, reason: error.message }, 'snapshot skipped');
    return undefined;
  }
}

/** Applies the log after `base` up to the entry `target`. */
async function replayTail(shard: number, base: Base, target: Head, slices: Slices, deps: RecoveryDeps) {
  const recent = await recentBefore(shard, base, deps);
  const pages = readLog(shard, base.start, patientReader(deps));
  let last = base.start;
  // Time does not go back within a shard, whatever an entry says.
  let timeMs = base.snapshotMs ?? 0;
  let events = 0;
  let tailEntries = 0;
  let logBytes = base.marks.at(-1)?.bytes ?? 0;
  const progress = new RecoveryProgress(deps.clock, deps.log);
  const done = () => {
    checkReached(shard, base, last.lsn);
    return { recent, timeMs, events, tailEntries, logBytes };
  };
  if (isSameHead(last, target)) return done();
  for await (const page of pages) {
    for (const { entry, bytes } of page) {
      checkEnds(base, entry);
      applyEntry(base, entry);
      events += entry.events.length;
      if (entry.owner === undefined) tailEntries++;
      logBytes += bytes.length;
      timeMs = Math.max(timeMs, newestTimeOf(entry));
      last = entry.head;
      recent.add({ head: last, bytes });
      if (isSameHead(last, target)) return done();
      await slices.maybeYield();
    }
    progress.tell({ shard, at: formatLsn(last.lsn), to: formatLsn(target.lsn), events });
  }
  throw new ShortLogError(
    `the log of shard ${shard} ends at ${formatLsn(last.lsn)}, before its head ${formatLsn(target.lsn)}`,
  );
}

/**
 * The newest entries that a snapshot holds: a store that can lose its tail can lose those too. As far as the log has
 * them, and has them whole.
 */
async function recentBefore(shard: number, { start, marks }: Base, deps: RecoveryDeps): Promise<RecentEntries> {
  const none = new RecentEntries(start, deps.recentBytesMax);
  const place = marks.at(-1);
  if (deps.recentBytesMax === 0 || place === undefined) return none;
  const from = marks.findLast(({ bytes }) => place.bytes - bytes >= deps.recentBytesMax);
  const reader = patientReader(deps);
  try {
    // Without a mark that is old enough the log is short.
    const marked = from && (await entryAt(shard, from.lsn, reader));
    const first = marked?.entry ?? (await firstEntry(shard, reader));
    if (first === undefined || first.lsn.sequence >= start.lsn.sequence) return none;
    const recent = new RecentEntries(first.head, deps.recentBytesMax);
    for await (const page of readLog(shard, first.head, reader, 'over-losses')) {
      for (const { entry, bytes } of page) {
        recent.add({ head: entry.head, bytes });
        if (isSameHead(entry.head, start)) return recent;
      }
      await deps.yieldTurn();
    }
  } catch (error) {
    if (!(error instanceof RecoveryError)) throw error;
  }
  return none;
}

function patientReader(deps: RecoveryDeps) {
  const read: Wal['read'] = (...args) => patiently('read the log', deps, () => deps.wal.read(...args));
  return { wal: { read }, format: deps.format };
}

function applyEntry({ wallets, end }: Base, entry: Entry): void {
  if (end === undefined || entry.lsn.sequence > end.lsn.sequence) {
    for (const event of entry.events) apply(wallets, event);
    return;
  }
  for (const event of entry.events) applyUnlessHeld(wallets, event);
}

/** Throws a `LossError` when the entry stands where a snapshot ends, and is another one than it was taken of. */
export function checkEnds({ ends }: Pick<Base, 'ends'>, { shard, lsn, head }: Entry): void {
  for (const end of ends) {
    if (lsn.sequence !== end.lsn.sequence || isSameHead(head, end)) continue;
    throw new LossError(
      `entry ${formatLsn(lsn)} of shard ${shard} is not the one that a snapshot was taken of, ${formatLsn(end.lsn)}`,
    );
  }
}

/**
 * Throws a `LossError` when the log ends before a snapshot does. One that lost its tail goes on in a new epoch: by LSN
 * its fences are newer than what was lost.
 */
export function checkReached(shard: number, { ends }: Pick<Base, 'ends'>, last: Lsn): void {
  for (const end of ends) {
    if (end.lsn.sequence <= last.sequence) continue;
    throw new LossError(
      `the log of shard ${shard} ends at ${formatLsn(last)}, but a snapshot holds entries up to ${formatLsn(end.lsn)}: the log has lost some of them`,
    );
  }
}

/** While a snapshot is taken the shard goes on: what a wallet in it already has is left out; then it returns false. */
export function applyUnlessHeld(wallets: Wallets, event: Event): boolean {
  const wallet = wallets.get(event.username);
  if (wallet !== undefined && event.version <= wallet.version) return false;
  apply(wallets, event);
  return true;
}
