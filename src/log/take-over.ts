import type { Clock } from '../base/clock.js';
import { formatLsn } from '../ports/lsn.js';
import { RecoveryError } from '../ports/recovery-error.js';
import { type RetryPolicy, withRetries } from '../ports/retry-policy.js';
import type {
  Append,
  AppendOutcome,
  EncodedEntry,
  EntryFormat,
  Head,
  MakeFence,
  Owner,
  Takeover,
  Wal,
} from '../ports/wal.js';
import { newestTimeOf } from './log-reader.js';
import { fenceTimeMs } from './log-time.js';

export interface TakeOverDeps extends RetryPolicy {
  readonly wal: Wal;
  readonly format: EntryFormat;
  readonly clock: Clock;
  readonly owner: Owner;
  /** Random 16 hexadecimal digits that distinguish this fence from every other. */
  readonly newNonce: () => string;
  /**
   * True if an operator has confirmed this clock. Log time that is far ahead is then set back. If undefined, the clock
   * is not confirmed.
   */
  readonly isClockConfirmed?: ((nowMs: number) => boolean) | undefined;
  /** Number of epochs that the fence skips, which owners whose fences are lost may have used. By default 0. */
  readonly skippedEpochs?: number | undefined;
  /** Receives the newest time of a log before its fence; the time is 0 if the log is empty. */
  readonly onFound?: ((newestMs: number) => void) | undefined;
}

/** Thrown if the log has a different owner than this process expected. */
export class FencedError extends RecoveryError {
  override readonly name = 'FencedError';
  override readonly ending = 'fenced';

  constructor(
    readonly shard: number,
    readonly head: Head,
  ) {
    super(`the log of shard ${shard} no longer belongs to this process: its head is ${formatLsn(head.lsn)}`);
  }
}

/** Takes over shards from any owner. Needs no check, because starting a process is a deliberate act. */
export async function takeOver(shards: readonly number[], deps: TakeOverDeps): Promise<readonly Takeover[]> {
  const makeFence: MakeFence = (shard, head, newest) => {
    return encodeFence(shard, head, newest === undefined ? 0 : timeOf(newest, deps), deps);
  };
  return await withRetries('take the logs over', deps, () => deps.wal.fence(shards, makeFence));
}

/**
 * Retries until every append has succeeded or conflicted. Each retry sends the same bytes. If an entry is already in
 * the log, its outcome is `duplicate`.
 */
export async function appendWithRetries(
  appends: readonly Append[],
  deps: RetryPolicy & { readonly wal: Pick<Wal, 'append'> },
): Promise<readonly Exclude<AppendOutcome, { type: 'failed' }>[]> {
  return await withRetries('write the fence', deps, async () => {
    const outcomes = await deps.wal.append(appends);
    return outcomes.map((outcome) => {
      if (outcome.type === 'failed') throw outcome.error;
      return outcome;
    });
  });
}

/**
 * Creates a fence for a log that ends in `previous` and contains no time newer than `newestMs`. The caller writes the
 * fence. It must create only one fence for this head, because a fence that was sent earlier can still arrive.
 */
export function makeFenceOver(shard: number, previous: Head, newestMs: number, deps: TakeOverDeps): Takeover {
  return { shard, previous, entry: encodeFence(shard, previous, newestMs, deps) };
}

/** The current head of a log. */
export async function headOf(shard: number, deps: RetryPolicy & { readonly wal: Pick<Wal, 'head'> }): Promise<Head> {
  return await withRetries('read the head', deps, () => deps.wal.head(shard));
}

/** The owner of the log that ends in `head`. */
export async function ownerOf(
  shard: number,
  head: Head,
  { wal, format }: Pick<TakeOverDeps, 'wal' | 'format'>,
): Promise<Owner | undefined> {
  const [first] = await wal.read(shard, { epoch: head.lsn.epoch, sequence: 0 }, 1);
  return first === undefined ? undefined : format.decode(first).owner;
}

/** A human-readable description of the owner. */
export function describeOwner(owner: Owner | undefined): string {
  if (owner === undefined) return 'an owner without a fence';
  return `process ${owner.pid} on ${owner.host}, started ${new Date(owner.startedMs).toISOString()}`;
}

function encodeFence(shard: number, previous: Head, newestMs: number, deps: TakeOverDeps): EncodedEntry {
  const { epoch, sequence } = previous.lsn;
  const lsn = { epoch: epoch + 1 + (deps.skippedEpochs ?? 0), sequence: sequence + 1 };
  const nowMs = deps.clock.now();
  const timeMs = fenceTimeMs(nowMs, newestMs, deps.isClockConfirmed?.(nowMs) === true);
  deps.onFound?.(newestMs);
  return deps.format.encodeFence({ shard, lsn, nonce: deps.newNonce(), previous, timeMs }, deps.owner);
}

/**
 * The entry's newest time, or 0 if the entry is unreadable. The takeover then continues with all shards; only the later
 * recovery of this shard fails.
 */
function timeOf(bytes: Buffer, { format }: TakeOverDeps): number {
  try {
    return newestTimeOf(format.decode(bytes));
  } catch {
    return 0;
  }
}
