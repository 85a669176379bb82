import { formatLsn, type Lsn } from '../../shard/log/lsn.js';
import type { Entry } from '../../shard/log/wal.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { OnProgress } from '../frame.js';
import { type Happening, happeningsOf } from '../happening.js';
import { firstView, lookAtAll } from '../shard-view.js';
import type { StoreReader } from '../store-reader.js';
import { readTolerantly } from '../tolerant-log.js';
import { entriesOf } from '../verify/verify.js';
import { isAbout, isWanted, mayBeBefore, type Question, RoundNames } from './question.js';
import { rememberedOf } from './remembered.js';
import { walletsAtHead } from './wallets-at-head.js';

/** A player as of an entry. */
export interface Player {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly wallet: Wallet;
}

export interface Inspection {
  /** In time order. */
  readonly happenings: readonly Happening[];
  /** The players concerned as they are now. */
  readonly players: readonly Player[];
  /** Sentences about what cannot be known. */
  readonly notes: readonly string[];
}

/** Looks for what happened in these shards: in their logs, and before their first entry in their oldest snapshot. */
export async function inspect(
  reader: StoreReader,
  shards: readonly number[],
  question: Question,
  onProgress: OnProgress = () => {},
): Promise<Inspection> {
  const progress = await searchProgress(reader, shards, onProgress);
  const happenings: Happening[] = [];
  const notes: string[] = [];
  for (const shard of shards) {
    const search = new ShardSearch(shard, reader, question, progress);
    await search.run();
    for (const one of search.happenings) happenings.push(one);
    notes.push(...search.notes);
  }
  // A player to whom nothing happened that anybody remembers is a player all the same.
  const asked = question.type === 'player' ? shards.map((shard) => ({ shard, username: question.username })) : [];
  const concerned = await playersConcerned(reader, [...happenings, ...asked]);
  return { happenings: inTimeOrder(happenings), players: concerned.players, notes: [...notes, ...concerned.notes] };
}

/** To be called for each entry. */
async function searchProgress(
  reader: StoreReader,
  shards: readonly number[],
  onProgress: OnProgress,
): Promise<() => void> {
  let total = 0;
  for (const shard of shards) total += await entriesOf(shard, reader);
  let done = 0;
  return () => onProgress(Math.min(++done, total), total);
}

/** Those to whom something happened. */
export async function playersConcerned(
  reader: StoreReader,
  concerned: readonly Pick<Happening, 'shard' | 'username'>[],
): Promise<Pick<Inspection, 'players' | 'notes'>> {
  const names = new Map<number, Set<string>>();
  for (const { shard, username } of concerned) names.set(shard, (names.get(shard) ?? new Set()).add(username));
  const players: Player[] = [];
  const notes: string[] = [];
  for (const [shard, usernames] of names) {
    const { lsn, wallets, problem } = await walletsAtHead(shard, usernames, reader);
    for (const wallet of wallets.values()) players.push({ shard, lsn, wallet });
    if (problem !== undefined) notes.push(problem);
  }
  return { players, notes };
}

/** Of several shards; within a player the order stays, also where a time is not known. */
function inTimeOrder(happenings: readonly Happening[]): Happening[] {
  const newest = new Map<string, number>();
  const timed = happenings.map((one) => {
    const timeMs = one.timeMs ?? newest.get(one.username) ?? 0;
    newest.set(one.username, timeMs);
    return { one, timeMs };
  });
  return timed.sort((a, b) => a.timeMs - b.timeMs).map(({ one }) => one);
}

class ShardSearch {
  happenings: Happening[] = [];
  readonly notes: string[] = [];
  private readonly rounds: RoundNames;

  constructor(
    private readonly shard: number,
    private readonly reader: StoreReader,
    private readonly question: Question,
    private readonly onEntry: () => void,
  ) {
    this.rounds = new RoundNames(question);
  }

  async run(): Promise<void> {
    const { shard, reader, notes } = this;
    let remembered: readonly Happening[] = [];
    let isFirst = true;
    for await (const entry of readTolerantly(shard, reader, notes)) {
      if (isFirst && entry.previousLsn.sequence > 0 && mayBeBefore(this.question, entry.timeMs))
        remembered = await this.searchSnapshot(entry);
      isFirst = false;
      this.onEntry();
      this.searchEntry(entry);
    }
    this.happenings = [...withoutRepeats(remembered, this.happenings), ...this.happenings];
  }

  private searchEntry({ lsn, events }: Entry): void {
    const { shard, question, rounds } = this;
    events.forEach((event, index) => {
      if (!isAbout(question, event.username)) return;
      for (const one of happeningsOf(event, { shard, lsn, index }, rounds.find)) {
        rounds.note(one);
        if (isWanted(question, one)) this.happenings.push(one);
      }
    });
  }

  /** What the oldest snapshot remembers. */
  private async searchSnapshot(first: Entry): Promise<readonly Happening[]> {
    const { shard, reader, question, rounds } = this;
    const remembered: Happening[] = [];
    const view = await firstView(shard, reader, 'oldest-first', ({ message }) => this.notes.push(message));
    const begins = `the log of shard ${shard} begins at ${formatLsn(first.lsn)} (${new Date(first.timeMs).toISOString()})`;
    if (view === undefined) {
      this.notes.push(`${begins}, and no snapshot tells what was before`);
      return [];
    }
    this.notes.push(`${begins}; what was before is what ${view.name} remembers`);
    const search = (wallet: Wallet) => {
      rounds.noteAll(wallet);
      for (const one of rememberedOf(wallet, shard)) if (isWanted(question, one)) remembered.push(one);
    };
    if (question.username === undefined) {
      await lookAtAll(view.wallets, reader, search);
    } else {
      const wallet = view.wallets.get(question.username);
      if (wallet !== undefined) search(wallet);
    }
    return remembered;
  }
}

/** Of what a snapshot remembers, that which the log does not tell better. */
function withoutRepeats(remembered: readonly Happening[], logged: readonly Happening[]): Happening[] {
  const versions = new Set(logged.map(({ username, version }) => JSON.stringify([username, version])));
  const ids = new Set(logged.map(keyOfUnversioned));
  return remembered.filter((one) =>
    one.version === undefined
      ? !ids.has(keyOfUnversioned(one))
      : !versions.has(JSON.stringify([one.username, one.version])),
  );
}

const NAMES_IN_LOG: Readonly<Record<string, string>> = {
  deposit: 'deposited',
  withdrawal: 'withdrawn',
  import: 'player-imported',
  correction: 'corrected',
  create: 'player-created',
  block: 'player-blocked',
  unblock: 'player-unblocked',
};

/** Operations without an id are told apart by their time. */
function keyOfUnversioned({ username, type, productId, roundId, id, timeMs }: Happening): string {
  const place = productId === undefined && id === undefined ? [timeMs] : [productId, roundId, id];
  return JSON.stringify([username, NAMES_IN_LOG[type] ?? type, ...place]);
}
