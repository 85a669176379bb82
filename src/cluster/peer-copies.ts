import type { Timers } from '../base/timers.js';
import type { Copy, CopyOutcome } from '../log/copies.js';
import type { EncodedEntry } from '../ports/wal.js';
import type { PeerMessage } from './peer-protocol.js';
import { PeerQuestions } from './peer-questions.js';

/**
 * Maximum wait for a holder's answer. After that it is unknown whether the holder has the entries, and the next attempt
 * uses a different holder.
 */
const PUT_MS = 300;
const SEAL_MS = 500;

export interface PeerCopiesDeps {
  /** True if the member has a link and holds copies. */
  readonly canHold: (tag: string) => boolean;
  /** Members that can hold the shard's log, best first. */
  readonly candidates: (shard: number) => readonly string[];
  readonly send: (tag: string, message: PeerMessage) => boolean;
  readonly timers: Timers;
}

/**
 * Entries of a log that other members hold, in order per member. `isSilent` is true if a live member did not answer.
 * `sealed` means that another node is about to fence the log.
 */
export type Gathered = { readonly copies: readonly (readonly EncodedEntry[])[]; readonly isSilent: boolean } | 'sealed';

/** Sends peers copies of the entries that this node appends, and asks peers for copies of other owners' entries. */
export class PeerCopies {
  /** By shard: the member that holds copies of its log. */
  private readonly holders = new Map<number, string>();
  private readonly puts: PeerQuestions<readonly CopyOutcome[]>;
  private readonly seals: PeerQuestions<readonly EncodedEntry[] | 'sealed'>;

  constructor(private readonly deps: PeerCopiesDeps) {
    const { send, timers } = deps;
    this.puts = new PeerQuestions(send, timers);
    this.seals = new PeerQuestions(send, timers);
  }

  /** Sends the copies to their holders. Never rejects. */
  async put(copies: readonly Copy[]): Promise<readonly CopyOutcome[]> {
    const byHolder = new Map<string, number[]>();
    for (const [i, { shard }] of copies.entries()) {
      const holder = this.maybeHolder(shard);
      if (holder === undefined) continue;
      const group = byHolder.get(holder);
      if (group === undefined) byHolder.set(holder, [i]);
      else group.push(i);
    }
    const outcomes: CopyOutcome[] = copies.map(() => 'none');
    await Promise.all([...byHolder].map(([holder, group]) => this.putAt(holder, group, copies, outcomes)));
    return outcomes;
  }

  /**
   * Entries of a log that these peers hold after `sequence`. For a while, only this node can add entries to the log.
   */
  async sealAt(peers: readonly string[], shard: number, sequence: number): Promise<Gathered> {
    const answers = await Promise.all(
      peers.map((tag) => this.seals.ask(tag, SEAL_MS, (id) => ({ type: 'seal', id, shard, sequence }))),
    );
    if (answers.includes('sealed')) return 'sealed';
    const held = answers.filter((entries) => typeof entries === 'object');
    return { copies: held, isSilent: held.length < answers.length };
  }

  copied(id: number, outcomes: readonly CopyOutcome[]): void {
    this.puts.answered(id, outcomes);
  }

  sealed(id: number, entries: readonly EncodedEntry[] | undefined): void {
    this.seals.answered(id, entries ?? 'sealed');
  }

  /** A member's release does not know the question. For the caller, that member is silent. */
  unknown(of: 'copy' | 'seal', id: number): void {
    if (of === 'copy') this.puts.unknown(id);
    else this.seals.unknown(id);
  }

  linkLost(lost: string): void {
    this.puts.linkLost(lost);
    this.seals.linkLost(lost);
  }

  private async putAt(
    holder: string,
    group: readonly number[],
    copies: readonly Copy[],
    outcomes: CopyOutcome[],
  ): Promise<void> {
    const mine = group.map((i) => copies[i] as Copy);
    const found = await this.puts.ask(holder, PUT_MS, (id) => ({ type: 'copy', id, copies: mine }));
    for (const [n, i] of group.entries()) {
      const outcome = found?.[n] ?? 'none';
      outcomes[i] = outcome;
      const { shard } = copies[i] as Copy;
      if (outcome === 'none' && this.holders.get(shard) === holder) this.replaceHolder(shard, holder);
    }
  }

  /** Keeps the same holder as long as it answers, because a new holder has none of the earlier entries. */
  private maybeHolder(shard: number): string | undefined {
    const holder = this.holders.get(shard);
    if (holder !== undefined && this.deps.canHold(holder)) return holder;
    const [first] = this.deps.candidates(shard);
    if (first !== undefined) this.holders.set(shard, first);
    return first;
  }

  private replaceHolder(shard: number, former: string): void {
    const candidates = this.deps.candidates(shard);
    const next = candidates[(candidates.indexOf(former) + 1) % candidates.length];
    if (next === undefined) this.holders.delete(shard);
    else this.holders.set(shard, next);
  }
}
