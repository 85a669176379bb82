import { firstReplay, type Replay } from '../../log/replay.js';
import type { SnapshotList } from '../../log/snapshot-reader.js';
import { compareLsn, formatLsn, type Lsn } from '../../ports/lsn.js';
import type { Manifest } from '../../ports/snapshot-store.js';
import { type Entry, type Head, isSameHead } from '../../ports/wal.js';
import type { StoreReader } from '../store-reader.js';
import type { Findings } from './findings.js';

/** Checks the snapshots of one shard against their manifests, and the manifests against the log. */
export class SnapshotCheck {
  /** Snapshots from which, according to their manifests, a recovery could start; newest end first. */
  readonly usable: readonly Manifest[];
  private readonly whole: readonly Manifest[];
  /** Ids of the snapshots whose chunks have been read. */
  private readonly read = new Set<string>();
  /** Fences that accept a loss. */
  private readonly accepted: Lsn[] = [];

  constructor(
    private readonly shard: number,
    list: SnapshotList,
    /** The head of the log, which was read after the list. */
    head: Head,
    /** The head before the first entry of the log, as that entry records it, because the log may have been trimmed. */
    before: Head,
    private readonly reader: StoreReader,
    private readonly findings: Findings,
  ) {
    for (const { id, reason } of list.damaged) this.add(`snapshot ${id} is damaged: ${reason}`);
    this.usable = list.whole.filter((manifest) => this.isWithin(manifest, head, before));
    this.whole = list.whole;
    for (const { id, start } of this.usable) {
      // Ignore the nonce, because the nonce of a trimmed entry is unknown.
      if (start.lsn.sequence === before.lsn.sequence) this.checkHead(id, { ...start, nonce: before.nonce }, before);
    }
  }

  get readCount(): number {
    return this.read.size;
  }

  /** Opens a replay from the first of these snapshots that is not damaged. */
  async open(...manifests: readonly Manifest[]): Promise<Replay | undefined> {
    const replay = await firstReplay(manifests, this.reader, ({ message }, { id }) => {
      if (!this.read.has(id)) this.findings.add('snapshot', message);
      this.read.add(id);
    });
    if (replay?.manifest !== undefined) this.read.add(replay.manifest.id);
    return replay;
  }

  /** Reads the snapshots from which no replay has started. */
  async readRest(): Promise<void> {
    for (const manifest of this.whole) if (!this.read.has(manifest.id)) await this.open(manifest);
  }

  /** Checks that the start and end entries of the snapshots match the log. */
  checkEntry({ head }: Entry): void {
    for (const { id, start, end } of this.usable) {
      if (start.lsn.sequence === head.lsn.sequence) this.checkHead(id, start, head);
      if (end.lsn.sequence === head.lsn.sequence) this.checkHead(id, end, head);
    }
  }

  /**
   * Accepts snapshots of the part that was lost before this fence, even if the log now has different entries with the
   * same LSNs.
   */
  accept(fence: Lsn): void {
    this.accepted.push(fence);
  }

  private checkHead(id: string, mine: Head, logs: Head): void {
    const isOfLost = (fence: Lsn) => compareLsn(mine.lsn, fence) < 0 && mine.lsn.sequence >= fence.sequence;
    if (isSameHead(mine, logs) || this.accepted.some(isOfLost)) return;
    this.add(
      `snapshot ${id} names entry ${formatLsn(mine.lsn)}, which differs from entry ${formatLsn(logs.lsn)} of the log`,
    );
  }

  private isWithin({ id, start, end }: Manifest, head: Head, before: Head): boolean {
    if (compareLsn(end.lsn, head.lsn) > 0) {
      this.add(`snapshot ${id} ends at ${formatLsn(end.lsn)}, beyond the end of the log: the log has lost entries`);
      return false;
    }
    if (start.lsn.sequence < before.lsn.sequence) {
      const from = formatLsn(before.lsn);
      this.add(
        `snapshot ${id} needs the log from ${formatLsn(start.lsn)} on, but the log has been trimmed up to ${from}`,
      );
      return false;
    }
    return true;
  }

  private add(what: string): void {
    this.findings.add('snapshot', `shard ${this.shard}: ${what}`);
  }
}
