import type { Timers } from '../base/timers.js';
import type { SnapshotResult } from '../snapshot/snapshotter.js';
import type { PeerMessage } from './peer-protocol.js';
import { PeerQuestions } from './peer-questions.js';

/** Maximum wait for a peer's snapshots. A slower peer still takes them. */
const WAIT_MS = 300_000;

/** Takes snapshots of the shards of all members. */
export class SnapshotRound {
  private readonly questions: PeerQuestions<readonly SnapshotResult[]>;

  constructor(
    private readonly takeHere: () => Promise<readonly SnapshotResult[]>,
    private readonly send: (tag: string, message: PeerMessage) => boolean,
    timers: Timers,
  ) {
    this.questions = new PeerQuestions(send, timers);
  }

  /** `peers` are the tags of linked members. A peer whose link is lost meanwhile contributes no results. */
  async take(peers: readonly string[]): Promise<readonly SnapshotResult[]> {
    const there = peers.map((tag) => this.questions.ask(tag, WAIT_MS, (id) => ({ type: 'snap', id })));
    const results = await Promise.all([this.takeHere(), ...there]);
    return results.flatMap((some) => some ?? []).sort((a, b) => a.shard - b.shard);
  }

  /** Answers a peer's request for snapshots. */
  async asked(tag: string, id: number): Promise<void> {
    this.send(tag, { type: 'snapped', id, results: await this.takeHere() });
  }

  answered(id: number, results: readonly SnapshotResult[]): void {
    this.questions.answered(id, results);
  }

  /** The peer's release takes no snapshots on request. */
  unknown(id: number): void {
    this.questions.unknown(id);
  }

  linkLost(tag: string): void {
    this.questions.linkLost(tag);
  }
}
