import type { Cancel, Timers } from '../base/timers.js';
import type { Copy, CopyOutcome } from '../shard/log/copies.js';
import type { SealedEntry } from '../shard/log/wal.js';
import type { PeerMessage } from './peer-protocol.js';

/** Who has not answered by then may hold it or not; somebody else is asked the next time. */
const PUT_MS = 300;
const SEAL_MS = 500;

export interface PeerCopiesDeps {
  /** Who can hold the log of a shard, best first: peers with a link. */
  readonly candidates: (shard: number) => readonly string[];
  readonly send: (tag: string, message: PeerMessage) => boolean;
  readonly timers: Timers;
}

/** What is asked of a peer and answered once, or not at all. */
interface Question<T> {
  readonly tag: string;
  readonly answer: (answer: T | undefined) => void;
}

/** Brings peers what this node appends, and asks them for what others had brought them. */
export class PeerCopies {
  /** Who holds the log of each shard. */
  private readonly holders = new Map<number, string>();
  private readonly puts = new Map<number, Question<readonly CopyOutcome[]>>();
  private readonly seals = new Map<number, Question<readonly SealedEntry[]>>();
  private nextId = 1;

  constructor(private readonly deps: PeerCopiesDeps) {}

  /** Does not reject. */
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

  /** What a peer holds of a log, which no owner before `epoch` adds to any more; undefined when it does not answer. */
  async sealAt(
    tag: string,
    shard: number,
    epoch: number,
    sequence: number,
  ): Promise<readonly SealedEntry[] | undefined> {
    return await this.ask(this.seals, tag, SEAL_MS, (id) => ({ type: 'seal', id, shard, epoch, sequence }));
  }

  copied(id: number, outcomes: readonly CopyOutcome[]): void {
    this.puts.get(id)?.answer(outcomes);
  }

  sealed(id: number, entries: readonly SealedEntry[]): void {
    this.seals.get(id)?.answer(entries);
  }

  linkLost(lost: string): void {
    for (const { tag, answer } of [...this.puts.values(), ...this.seals.values()]) if (tag === lost) answer(undefined);
  }

  private async putAt(
    holder: string,
    group: readonly number[],
    copies: readonly Copy[],
    outcomes: CopyOutcome[],
  ): Promise<void> {
    const mine = group.map((i) => copies[i] as Copy);
    const found = await this.ask(this.puts, holder, PUT_MS, (id) => ({ type: 'copy', id, copies: mine }));
    for (const [n, i] of group.entries()) {
      const outcome = found?.[n] ?? 'none';
      outcomes[i] = outcome;
      const { shard } = copies[i] as Copy;
      if (outcome === 'none' && this.holders.get(shard) === holder) this.replaceHolder(shard, holder);
    }
  }

  /** It stays the same one for as long as it answers: another one begins with nothing. */
  private maybeHolder(shard: number): string | undefined {
    const candidates = this.deps.candidates(shard);
    const holder = this.holders.get(shard);
    if (holder !== undefined && candidates.includes(holder)) return holder;
    const [first] = candidates;
    if (first !== undefined) this.holders.set(shard, first);
    return first;
  }

  private replaceHolder(shard: number, former: string): void {
    const candidates = this.deps.candidates(shard);
    const next = candidates[(candidates.indexOf(former) + 1) % candidates.length];
    if (next === undefined) this.holders.delete(shard);
    else this.holders.set(shard, next);
  }

  private async ask<T>(
    questions: Map<number, Question<T>>,
    tag: string,
    waitMs: number,
    messageOf: (id: number) => PeerMessage,
  ): Promise<T | undefined> {
    const id = this.nextId++;
    let cancel: Cancel = () => {};
    const answer = await new Promise<T | undefined>((resolve) => {
      questions.set(id, { tag, answer: resolve });
      cancel = this.deps.timers.after(waitMs, () => resolve(undefined));
      if (!this.deps.send(tag, messageOf(id))) resolve(undefined);
    });
    cancel();
    questions.delete(id);
    return answer;
  }
}
