import type { OnProgress } from '../../base/progress.js';
import { formatLsn, type Lsn } from '../../ports/lsn.js';
import type { Entry } from '../../ports/wal.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import { forEachWallet } from '../each-wallet.js';
import { logLength } from '../log-length.js';
import { snapshotReplay } from '../snapshot-replay.js';
import type { StoreReader } from '../store-reader.js';
import { addArchivedRounds } from './archived-rounds.js';
import { itemsFromSnapshot } from './from-snapshot.js';
import { type HistoryItem, itemsOf, typeInLog } from './history-item.js';
import { type InspectQuery, isAbout, isWanted, mayBeBefore } from './inspect-query.js';
import { readDamagedLog } from './read-damaged-log.js';
import { RoundNames } from './round-names.js';
import { walletsAtHead } from './wallets-at-head.js';

/*
 * Inspect answers a query (inspect-query.ts) from logs and snapshots with a list of history items (history-item.ts),
 * oldest first. Most items come from log events, which are read even where the log is damaged (read-damaged-log.ts).
 * Items from before the log come from the oldest snapshot and the archive (from-snapshot.ts, archived-rounds.ts).
 * wallets-at-head.ts adds the current state of the players. inspect-entry.ts shows a single entry, or the entries of an
 * orphans file.
 */

/** The state of a player as of an entry. */
export interface Player {
  readonly shard: number;
  readonly lsn: Lsn;
  readonly wallet: Wallet;
}

export interface Inspection {
  /** In time order. */
  readonly items: readonly HistoryItem[];
  /** The current state of the players in the items. */
  readonly players: readonly Player[];
  /** Sentences about gaps in the data. */
  readonly notes: readonly string[];
}

/** Searches the logs of these shards, and the oldest snapshot for the time before the first log entry. */
export async function inspect(
  reader: StoreReader,
  shards: readonly number[],
  query: InspectQuery,
  onProgress: OnProgress = () => {},
): Promise<Inspection> {
  const progress = await searchProgress(reader, shards, onProgress);
  const items: HistoryItem[] = [];
  const notes: string[] = [];
  for (const shard of shards) {
    const search = new ShardSearch(shard, reader, query, progress);
    await search.run();
    for (const one of search.items) items.push(one);
    notes.push(...search.notes);
  }
  // Show the queried player even if no history is left.
  const asked = query.type === 'player' ? shards.map((shard) => ({ shard, username: query.username })) : [];
  const concerned = await affectedPlayers(reader, [...items, ...asked]);
  return { items: inTimeOrder(items), players: concerned.players, notes: [...notes, ...concerned.notes] };
}

/** Returns a function that reports progress. Call it once for each entry. */
async function searchProgress(
  reader: StoreReader,
  shards: readonly number[],
  onProgress: OnProgress,
): Promise<() => void> {
  let total = 0;
  for (const shard of shards) total += await logLength(shard, reader);
  let done = 0;
  return () => onProgress(Math.min(++done, total), total);
}

/** The current state of the players in these items. */
export async function affectedPlayers(
  reader: StoreReader,
  concerned: readonly Pick<HistoryItem, 'shard' | 'username'>[],
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

/** Merges the items of several shards by time. Items of one player keep their order, even if some times are unknown. */
function inTimeOrder(items: readonly HistoryItem[]): HistoryItem[] {
  const newest = new Map<string, number>();
  const timed = items.map((one) => {
    const timeMs = one.timeMs ?? newest.get(one.username) ?? 0;
    newest.set(one.username, timeMs);
    return { one, timeMs };
  });
  return timed.sort((a, b) => a.timeMs - b.timeMs).map(({ one }) => one);
}

class ShardSearch {
  items: HistoryItem[] = [];
  readonly notes: string[] = [];
  private readonly rounds: RoundNames;

  constructor(
    private readonly shard: number,
    private readonly reader: StoreReader,
    private readonly query: InspectQuery,
    private readonly onEntry: () => void,
  ) {
    this.rounds = new RoundNames(query);
  }

  async run(): Promise<void> {
    const { shard, reader, notes } = this;
    let remembered: readonly HistoryItem[] = [];
    let isFirst = true;
    for await (const entry of readDamagedLog(shard, reader, notes)) {
      if (isFirst && entry.previousLsn.sequence > 0 && mayBeBefore(this.query, entry.timeMs))
        remembered = await this.searchSnapshot(entry);
      isFirst = false;
      this.onEntry();
      this.searchEntry(entry);
    }
    this.items = [...withoutRepeats(remembered, this.items), ...this.items];
  }

  private searchEntry({ lsn, events }: Entry): void {
    const { shard, query, rounds } = this;
    events.forEach((event, index) => {
      if (!isAbout(query, event.username)) return;
      for (const one of itemsOf(event, { shard, lsn, index }, rounds.find)) {
        rounds.note(one);
        if (isWanted(query, one)) this.items.push(one);
      }
    });
  }

  /** Finds the matching items in the oldest snapshot. */
  private async searchSnapshot(first: Entry): Promise<readonly HistoryItem[]> {
    const { shard, reader, query, rounds } = this;
    const remembered: HistoryItem[] = [];
    const replay = await snapshotReplay(shard, reader, 'oldest-first', ({ message }) => this.notes.push(message));
    const begins = `the log of shard ${shard} begins at ${formatLsn(first.lsn)} (${new Date(first.timeMs).toISOString()})`;
    if (replay === undefined) {
      this.notes.push(`${begins}, and no snapshot shows the history before that`);
      return [];
    }
    const archive = reader.archive === undefined ? '' : ' and the archive';
    this.notes.push(`${begins}; of the history before that, only the contents of ${replay.name}${archive} are known`);
    await addArchivedRounds(replay.wallets, shard, query, reader);
    const search = (wallet: Wallet) => {
      rounds.noteAll(wallet);
      for (const one of itemsFromSnapshot(wallet, shard)) if (isWanted(query, one)) remembered.push(one);
    };
    if (query.username === undefined) {
      await forEachWallet(replay.wallets, reader, search);
    } else {
      const wallet = replay.wallets.get(query.username);
      if (wallet !== undefined) search(wallet);
    }
    return remembered;
  }
}

/** Returns the snapshot items that the log does not contain. Log items are more complete, so they take precedence. */
function withoutRepeats(remembered: readonly HistoryItem[], logged: readonly HistoryItem[]): HistoryItem[] {
  const versions = new Set(logged.map(({ username, version }) => JSON.stringify([username, version])));
  const ids = new Set(logged.map(keyOfUnversioned));
  return remembered.filter((one) =>
    one.version === undefined
      ? !ids.has(keyOfUnversioned(one))
      : !versions.has(JSON.stringify([one.username, one.version])),
  );
}

/** The key for items without a version. Operations without an id differ by their time. */
function keyOfUnversioned(item: HistoryItem): string {
  const { username, productId, roundId, id, timeMs } = item;
  const place = productId === undefined && id === undefined ? [timeMs] : [productId, roundId, id];
  return JSON.stringify([username, typeInLog(item), ...place]);
}
