import { firstEntry } from '../../log/log-reader.js';
import { describeMissingDay } from '../../ports/archive-behind-error.js';
import { formatLsn } from '../../ports/lsn.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import { type ArchiveMark, formatMark } from '../../wallet/archive-mark.js';
import type { AuditHead } from '../../wallet/audit-chain.js';
import { logLength } from '../log-length.js';
import { type StoreReader, shardsOf } from '../store-reader.js';
import type { ArchiveCheck } from './archive-check.js';
import { StoreBooks } from './books.js';
import { Findings } from './findings.js';
import { ShardVerification, type VerifyOptions } from './shard-verification.js';

/*
 * Verify checks all data in a store without changing it. shard-verification.ts makes one pass over a shard.
 * snapshot-check.ts compares the snapshots with their manifests and with the log. checked-replay.ts replays the log and
 * keeps the books (books.ts). Along the way, server-comparison.ts compares the wallets with those of a running server,
 * which operator-api.ts calls. With --deep, snapshot-proof.ts proves each newer snapshot. findings.ts collects the
 * faults.
 */

export interface ShardReport {
  readonly shard: number;
  /** The first entry still in the log; undefined if the log is empty. */
  readonly first: string | undefined;
  /** The newest entry that was checked. */
  readonly lsn: string;
  readonly entries: number;
  readonly events: number;
  readonly players: number;
  /** Number of snapshots whose chunks were read. */
  readonly snapshots: number;
  /** The start of the replay: `genesis` or the id of a snapshot; undefined if there was nothing from which to begin. */
  readonly base: string | undefined;
  /** Number of archived rounds that were read. */
  readonly archived: number;
  /** The newest archive record on which the log relies; undefined if there is none. */
  readonly logMark: string | undefined;
  /**
   * The newest record that the archive has ever contained; undefined if none was archived since archives have had
   * marks.
   */
  readonly archiveMark: string | undefined;
  /** The newest link of the audit chain; undefined if nothing was replayed. */
  readonly audit: AuditHead | undefined;
  /** Number of players whose balance was compared with the server; undefined without a server. */
  readonly compared: number | undefined;
  /** Number of players whose snapshot is newer than the server's answer. */
  readonly movedOn: number | undefined;
  /** Sentences about faults in the log before an accepted loss. */
  readonly accepted: readonly string[];
}

export interface VerifyReport {
  readonly shards: readonly ShardReport[];
  readonly books: StoreBooks;
  readonly findings: Findings;
}

const ATTEMPTS_MAX = 3;

/**
 * Checks every snapshot and log, a replay of each shard with its wallets and books, and the players of a running
 * server, if there is one. Outage errors are passed on. Throws a `ToolError` if the server does not answer.
 */
export async function verify(reader: StoreReader, options: VerifyOptions): Promise<VerifyReport> {
  const shards: ShardReport[] = [];
  const books = new StoreBooks();
  const findings = new Findings();
  const progress = await storeProgress(reader, options);
  // Report missing days first, because they explain missing rounds.
  for (const day of (await reader.archive?.missingDays()) ?? []) findings.add('archive', describeMissingDay(day));
  for (const shard of shardsOf(reader)) {
    const verification = await verifyShard(shard, reader, { ...options, onProgress: (done) => progress(shard, done) });
    findings.addAll(verification.findings);
    // Leave out the books of an unfinished replay, because their sums would only cause one more finding.
    if (verification.replay?.isBroken === false) books.addAll(verification.replay.books);
    shards.push(reportOf(shard, verification));
  }
  return { shards, books, findings };
}

/** Repeats the pass if a running server has trimmed its log or deleted a snapshot, because both look like faults. */
async function verifyShard(shard: number, reader: StoreReader, options: VerifyOptions): Promise<ShardVerification> {
  for (let attempt = 1; ; attempt++) {
    const before = await removableOf(shard, reader);
    const verification = new ShardVerification(shard, reader, options);
    await verification.run();
    if (verification.findings.total === 0 || attempt === ATTEMPTS_MAX) return verification;
    const after = await removableOf(shard, reader);
    const hasMoved = after.first !== before.first || before.snapshots.some((id) => !after.snapshots.includes(id));
    if (!hasMoved) return verification;
  }
}

/** Data of a shard that a running server may remove during a pass. */
async function removableOf(shard: number, reader: StoreReader): Promise<{ first: string; snapshots: string[] }> {
  const stored = await reader.snapshots.snapshots(shard);
  return { first: await nameOfFirst(shard, reader), snapshots: stored.map(({ id }) => id) };
}

async function nameOfFirst(shard: number, reader: StoreReader): Promise<string> {
  try {
    const first = await firstEntry(shard, reader);
    return first === undefined ? 'none' : formatLsn(first.lsn);
  } catch (error) {
    if (error instanceof RecoveryError) return 'damaged';
    throw error;
  }
}

/** Reports progress over the complete store, because shards are verified one after another. */
async function storeProgress(
  reader: StoreReader,
  { onProgress }: VerifyOptions,
): Promise<(shard: number, done: number) => void> {
  if (onProgress === undefined) return () => {};
  const totals: number[] = [];
  for (const shard of shardsOf(reader)) totals.push(await logLength(shard, reader));
  const total = totals.reduce((sum, entries) => sum + entries, 0);
  return (shard, done) => {
    const before = totals.slice(0, shard).reduce((sum, entries) => sum + entries, 0);
    onProgress(Math.min(before + done, total), total);
  };
}

function reportOf(shard: number, verification: ShardVerification): ShardReport {
  const { first, head, entries, events, replay, snapshots, base, comparison, accepted } = verification;
  return {
    shard,
    first: first && formatLsn(first.lsn),
    lsn: formatLsn(head.lsn),
    entries,
    events,
    players: replay?.wallets.count ?? 0,
    snapshots: snapshots?.readCount ?? 0,
    base,
    archived: verification.archive?.rounds ?? 0,
    ...marksOf(verification.archive),
    audit: replay?.audit.head,
    compared: comparison?.compared,
    movedOn: comparison?.movedOn,
    accepted: [...accepted, ...(verification.archive?.accepted ?? [])],
  };
}

/** Formats the marks for a report. */
export function marksOf(archive: ArchiveCheck | undefined): Pick<ShardReport, 'logMark' | 'archiveMark'> {
  const formatted = (mark: ArchiveMark | undefined) => mark && formatMark(mark);
  return { logMark: formatted(archive?.required), archiveMark: formatted(archive?.mark) };
}
