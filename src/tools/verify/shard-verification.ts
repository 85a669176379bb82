import { firstEntry, hasEntry, readLog } from '../../log/log-reader.js';
import { Replay } from '../../log/replay.js';
import { listSnapshots } from '../../log/snapshot-reader.js';
import { compareLsn, formatLsn, isSameLsn, type Lsn } from '../../ports/lsn.js';
import { AcceptedLossError, RecoveryError } from '../../ports/recovery-error.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import { type Entry, type Head, isSameHead } from '../../ports/wal.js';
import type { AuditHead } from '../../wallet/audit-chain.js';
import { findAcceptedLoss } from '../accepted-loss.js';
import { predecessorOf, type StoreReader } from '../store-reader.js';
import { ArchiveCheck } from './archive-check.js';
import { CheckedReplay } from './checked-replay.js';
import { Findings } from './findings.js';
import { type PlayerSource, ServerComparison } from './server-comparison.js';
import { SnapshotCheck } from './snapshot-check.js';
import { SnapshotProof } from './snapshot-proof.js';

export interface VerifyOptions {
  /** True to replay from the oldest point that the store still has, and to prove each newer snapshot along the way. */
  readonly isDeep: boolean;
  /** Undefined for a verification without a running server. */
  readonly server: PlayerSource | undefined;
  /** Audit chain heads that were recorded elsewhere, by shard; undefined if there are none. */
  readonly noted?: ReadonlyMap<number, AuditHead> | undefined;
  /** Called after each page of a log, with the number of entries read so far and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * One pass over a shard. If a running server trims the log or deletes snapshots during the pass, the pass reports false
 * faults and must be repeated.
 */
export class ShardVerification {
  readonly findings = new Findings();
  /** Sentences about faults in the log before an accepted loss. */
  readonly accepted: string[] = [];
  entries = 0;
  events = 0;
  /** The newest entry that was checked. */
  head: Head;
  first: Entry | undefined = undefined;
  snapshots: SnapshotCheck | undefined = undefined;
  comparison: ServerComparison | undefined = undefined;
  /** The start of the replay: genesis, or the id of a snapshot; undefined if there was nothing from which to begin. */
  base: string | undefined = undefined;
  replay: CheckedReplay | undefined = undefined;
  archive: ArchiveCheck | undefined = undefined;
  /** The newest entry read so far, or the head after which reading began. */
  private last: Head;
  /** Snapshots whose start the replay has passed, but not yet their end. */
  private readonly proofs = new Map<Manifest, SnapshotProof>();

  constructor(
    private readonly shard: number,
    private readonly reader: StoreReader,
    private readonly options: VerifyOptions,
  ) {
    this.head = reader.genesis(shard);
    this.last = this.head;
  }

  async run(): Promise<void> {
    const { reader, shard } = this;
    await this.askServer();
    // Read the list before the head. Otherwise a snapshot that is published in between could end after the head.
    const list = await listSnapshots(shard, reader);
    this.head = await reader.wal.head(shard);
    const unreadable = await faultIn(async () => {
      this.first = await firstEntry(shard, reader);
    });
    const before = this.first === undefined ? reader.genesis(shard) : predecessorOf(this.first);
    const snapshots = new SnapshotCheck(shard, list, this.head, before, reader, this.findings);
    this.snapshots = snapshots;
    const base = await this.openBase(snapshots, before);
    if (base !== undefined) {
      await this.replayFrom(base);
    } else {
      const begins = `the log of shard ${shard} begins at ${this.first && formatLsn(this.first.lsn)}`;
      this.findings.add('log', `${begins}, and no snapshot covers the entries before that`);
    }
    this.last = before;
    const read = () => faultIn(() => this.readLog(snapshots));
    let fault = unreadable ?? (await read());
    while (fault !== undefined) {
      const { lsn } = this.last;
      const accepted = fault instanceof AcceptedLossError ? fault.fence : await findAcceptedLoss(shard, lsn, reader);
      const fence = accepted?.lsn;
      const goesOn = await this.continueAfter(lsn, snapshots);
      // Accepting a loss does not accept a fault that lies after the point from which the rest can be proved.
      const isAccepted = goesOn && fence !== undefined && compareLsn(fence, this.last.lsn) <= 0;
      this.note(fault, isAccepted ? fence : undefined);
      if (isAccepted) snapshots.accept(fence);
      if (!goesOn) break;
      fault = await read();
    }
    if (this.replay?.isBroken === false) await this.replay.finish(fault === undefined);
    await this.archive?.finish(fault === undefined && this.replay?.isBroken === false, this.head.lsn);
    await snapshots.readRest();
  }

  private async askServer(): Promise<void> {
    const { shard, reader, findings } = this;
    const askedAfter = (await reader.wal.head(shard)).lsn;
    const players = await this.options.server?.players(shard);
    if (players === undefined) return;
    this.comparison = new ServerComparison(shard, players, askedAfter, reader.scales, findings);
  }

  private async openBase(snapshots: SnapshotCheck, before: Head): Promise<Replay | undefined> {
    const hasAll = before.lsn.sequence === 0;
    const { usable } = snapshots;
    const genesis = hasAll ? Replay.ofNothing(this.reader.genesis(this.shard)) : undefined;
    if (!this.options.isDeep) return (await snapshots.open(...usable)) ?? genesis;
    return genesis ?? (await snapshots.open(...oldestFirst(usable)));
  }

  private async replayFrom(begun: Replay): Promise<void> {
    this.base = begun.manifest?.id ?? 'genesis';
    this.archive = new ArchiveCheck(this.shard, this.reader, this.findings);
    const { shard, reader, comparison, findings, archive, options } = this;
    const noted = options.noted?.get(shard);
    this.replay = new CheckedReplay(begun, shard, reader, comparison, findings, archive, noted);
    await this.replay.begin();
  }

  /**
   * After a fault in the log, continues from the first later snapshot whose start is still in the log. Returns false if
   * there is none.
   */
  private async continueAfter({ sequence }: Lsn, snapshots: SnapshotCheck): Promise<boolean> {
    this.proofs.clear();
    for (const manifest of oldestFirst(snapshots.usable)) {
      if (manifest.start.lsn.sequence <= sequence || !(await this.isInLog(manifest.start))) continue;
      const opened = await snapshots.open(manifest);
      if (opened === undefined) continue;
      // Keep a replay that began after the fault, because the fault does not affect it.
      if (this.replay === undefined || this.replay.start.sequence < manifest.start.lsn.sequence) {
        await this.replayFrom(opened);
      }
      this.last = manifest.start;
      return true;
    }
    return false;
  }

  private async isInLog(head: Head): Promise<boolean> {
    try {
      return await hasEntry(this.shard, head, this.reader);
    } catch (error) {
      if (error instanceof RecoveryError) return false;
      throw error;
    }
  }

  /** Reads the log from `last` to the head, wherever the replay started. */
  private async readLog(snapshots: SnapshotCheck): Promise<void> {
    const { shard, reader, head, options } = this;
    const total = head.lsn.sequence - (this.first?.previousLsn.sequence ?? 0);
    await this.passSnapshots(this.last.lsn, snapshots);
    for await (const page of readLog(shard, this.last, reader)) {
      for (const { entry } of page) {
        if (compareLsn(entry.lsn, head.lsn) > 0) return await this.checkHead(entry.lsn);
        this.entries++;
        this.events += entry.events.length;
        snapshots.checkEntry(entry);
        this.replay?.take(entry);
        for (const proof of this.proofs.values()) proof.take(entry);
        await this.passSnapshots(entry.lsn, snapshots);
        this.last = entry.head;
      }
      options.onProgress?.(this.entries, total);
      await reader.yieldTurn();
    }
    await this.checkHead(undefined);
  }

  /** Loads the snapshots that start at this entry, and compares those that end at it. */
  private async passSnapshots(lsn: Lsn, snapshots: SnapshotCheck): Promise<void> {
    const { replay } = this;
    if (replay === undefined) return;
    this.passAudit(lsn, snapshots, replay);
    if (!this.options.isDeep) return;
    for (const manifest of snapshots.usable) {
      if (manifest.id === this.base || !isSameLsn(manifest.start.lsn, lsn)) continue;
      const opened = await snapshots.open(manifest);
      if (opened !== undefined) this.proofs.set(manifest, new SnapshotProof(opened, this.shard, this.findings));
    }
    for (const [manifest, proof] of this.proofs) {
      if (!isSameLsn(manifest.end.lsn, lsn)) continue;
      this.proofs.delete(manifest);
      if (!replay.isBroken) await proof.compare(replay.wallets, this.reader);
    }
  }

  /**
   * Compares audit chains at this entry. For a snapshot that starts before the replay, there is no chain to compare
   * with.
   */
  private passAudit(lsn: Lsn, { usable }: SnapshotCheck, { audit, start, isBroken }: CheckedReplay): void {
    if (isBroken || compareLsn(lsn, start) < 0) return;
    audit.pass(lsn, usable);
    for (const manifest of usable) if (isSameLsn(manifest.start.lsn, lsn)) audit.compare(manifest);
  }

  /** `beyond` is an entry after the head that was read, which shows that the log has grown and now has a newer head. */
  private async checkHead(beyond: Lsn | undefined): Promise<void> {
    const { last, head, reader, shard } = this;
    const [end, expected] = [formatLsn(last.lsn), formatLsn(head.lsn)];
    if (!isSameLsn(last.lsn, head.lsn)) {
      throw new RecoveryError(`the log of shard ${shard} ends at ${end}, but its head is ${expected}`);
    }
    if (!isSameHead(last, head)) {
      throw new RecoveryError(`the last entry of shard ${shard} is ${end}, but its head names a different one`);
    }
    if (beyond !== undefined && isSameHead(await reader.wal.head(shard), head)) {
      throw new RecoveryError(
        `the log of shard ${shard} continues to ${formatLsn(beyond)}, but its head is ${expected}`,
      );
    }
  }

  private note(fault: RecoveryError, accepted: Lsn | undefined): void {
    if (accepted === undefined) {
      this.findings.add('log', fault.message);
    } else {
      this.accepted.push(`${fault.fact}; the loss was accepted at ${formatLsn(accepted)}`);
    }
  }
}

/** Runs the function. Returns the error if the log could not be read; undefined otherwise. */
async function faultIn(run: () => Promise<void>): Promise<RecoveryError | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof RecoveryError) return error;
    throw error;
  }
}

/**
 * Sorts by start, oldest first. With the same start, the snapshot with the earlier end comes first, because a later end
 * covers more.
 */
function oldestFirst(manifests: readonly Manifest[]): Manifest[] {
  return [...manifests].sort((a, b) => compareLsn(a.start.lsn, b.start.lsn) || compareLsn(a.end.lsn, b.end.lsn));
}
