import assert from 'node:assert/strict';
import { atOnce } from '../../src/base/steps.js';
import { FAILURES } from '../../src/callback/failures.js';
import { rulesOf } from '../../src/node/settings/rules.js';
import type { ChunkWriter } from '../../src/ports/snapshot-store.js';
import type { Entry } from '../../src/ports/wal.js';
import { EntryCodec, genesisHead } from '../../src/store/format/entry-codec.js';
import { SnapshotCodec } from '../../src/store/format/snapshot-codec.js';
import { apply } from '../../src/wallet/apply.js';
import { archivableRounds, missingIn } from '../../src/wallet/archiving.js';
import type {
  AdjustTxn,
  CallbackCommand,
  CancelTipTxn,
  CancelTxn,
  CheckBalanceCommand,
  Command,
  MovementTxn,
  PlaceTipTxn,
  PlaceTxn,
  RewardTxn,
  RollbackTxn,
  SettleTxn,
  VoidTxn,
} from '../../src/wallet/command.js';
import { decide } from '../../src/wallet/decide/decide.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Decision } from '../../src/wallet/decision.js';
import type { Event } from '../../src/wallet/event.js';
import type { RoundName } from '../../src/wallet/state/round.js';
import { addSerializedRound, nameOfSerialized } from '../../src/wallet/state/serialized-round.js';
import { type TableSizes, Tables } from '../../src/wallet/state/tables.js';
import type { TransactionKind } from '../../src/wallet/state/transaction-kind.js';
import { Wallet } from '../../src/wallet/state/wallet.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { settingsWith } from './settings.js';

export const STORE_ID = '00000000-0000-4000-8000-000000000001';
const SNAPSHOT_ID = 'aaaaaaaaaaaaaaaa';

/** Sizes of small memory blocks, so that a few bets fill several blocks. */
export const TINY: TableSizes = { segmentRows: 4, pageBytes: 1024 };

/** A shard without actor, log or clock. It decides commands, applies their events and keeps the events. */
export class Domain {
  wallets = new Wallets(TINY);
  readonly events: Event[] = [];
  nowMs = 1_700_000_000_000;

  constructor(readonly rules: Rules = rulesOf(settingsWith())) {}

  /** Archived rounds by player and round name. */
  private readonly archive = new Map<string, Buffer>();
  /** Number of events that only moved rounds, by player. */
  readonly moves = new Map<string, number>();

  /** Runs the command as a shard with an archive does: first recalls the archived rounds that the command names. */
  runRecalling(command: Command): Decision {
    const wallet = this.wallets.get(command.username);
    if (wallet !== undefined && 'txns' in command) {
      const { ids, rewardIds, roundIds } = missingIn(wallet, command);
      const { productId } = command;
      this.recall(command.username, (image) => {
        const named = namesOf(image);
        return (
          named.productId === productId &&
          (roundIds.includes(named.roundId) ||
            named.ids.some((id) => ids.includes(id)) ||
            named.rewardIds.some((id) => rewardIds.includes(id)))
        );
      });
    }
    return this.run(command);
  }

  /** Returns a player's archived rounds to memory if `isWanted` accepts them. */
  recall(username: string, isWanted: (image: Buffer) => boolean): void {
    const images: Buffer[] = [];
    for (const [key, image] of this.archive) {
      if (nameOfSerialized(image).username !== username || !isWanted(image)) continue;
      images.push(image);
      this.archive.delete(key);
    }
    this.move({ type: 'restore-rounds', username, images });
  }

  /** Archives up to `limit` closed rounds of each player. */
  letGo(limit: number): void {
    for (const { username } of [...this.wallets]) {
      const archivable = archivableRounds(this.wallet(username), this.nowMs + 1, 0, limit);
      for (const { image } of archivable) this.archive.set(JSON.stringify(nameOfSerialized(image)), image);
      this.move({ type: 'archive', username, rounds: archivable, beforeMs: this.nowMs + 1 });
    }
  }

  private move(command: Extract<Command, { type: 'archive' | 'restore-rounds' }>): void {
    if ((command.type === 'archive' ? command.rounds : command.images).length === 0) return;
    const { event } = this.run(command);
    assert.notEqual(event, undefined, 'all of it moves');
    this.moves.set(command.username, (this.moves.get(command.username) ?? 0) + 1);
  }

  run(command: Command): Decision {
    const decision = decide(this.wallets.get(command.username), command, this.rules, this.nowMs);
    if (decision.event !== undefined) {
      this.events.push(decision.event);
      apply(this.wallets, decision.event);
      // Move records in memory after every event, because production code may do so at any time.
      this.wallets.tables.compact();
      for (let i = 0; i < 2; i++) this.wallets.hibernateNext();
    }
    return decision;
  }

  /** Runs the command. Returns 0, or the statusCode of the failure. */
  statusCode(command: Command): number {
    const { answer } = this.run(command);
    return answer.type === 'accepted' ? 0 : FAILURES[answer.failure].statusCode;
  }

  fund(username: string, balance: number): void {
    this.run({ type: 'import-player', id: 'fund', username, currency: 'THB', balance });
  }

  wallet(username: string): Wallet {
    const wallet = this.wallets.get(username);
    if (wallet === undefined) throw new Error(`no player ${username}`);
    return wallet;
  }

  /** Reloads the wallets from a snapshot, as a restart does. */
  restart(): void {
    this.wallets = throughSnapshot(this.wallets);
  }

  /** Wallets that are replayed from the events, after the events have been encoded into a log entry and decoded. */
  replayed(): Wallets {
    const wallets = new Wallets(TINY);
    for (const event of throughLog(this.events)) apply(wallets, event);
    return wallets;
  }
}

/** The name of a serialized round, the IDs of its bets, tips and tombstones, and the IDs of its rewards. */
function namesOf(image: Buffer): RoundName & { ids: string[]; rewardIds: string[] } {
  const { username, productId, roundId } = nameOfSerialized(image);
  const wallet = Wallet.begin(new Tables(TINY), 'THB', username);
  const items = addSerializedRound(wallet, image);
  const idsOf = (...kinds: TransactionKind[]) => items.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);
  return { productId, roundId, ids: idsOf('bet', 'tip', 'tombstone'), rewardIds: idsOf('reward') };
}

/** The same wallets, encoded into a snapshot and decoded. */
export function throughSnapshot(wallets: Wallets, chunkBytesMax = 2000): Wallets {
  const codec = new SnapshotCodec(STORE_ID, undefined, TINY);
  const chunks: ReturnType<ChunkWriter['seal']>[] = [];
  let chunk = codec.beginChunk(0, SNAPSHOT_ID, 0);
  for (let position = 0; position < wallets.count; position++) {
    atOnce(chunk.add(wallets.peekAt(position) as Wallet));
    if (chunk.byteLength < chunkBytesMax && position < wallets.count - 1) continue;
    chunks.push(chunk.seal());
    chunk = codec.beginChunk(0, SNAPSHOT_ID, chunks.length);
  }
  const head = genesisHead(STORE_ID, 0);
  const manifest = { id: SNAPSHOT_ID, shard: 0, start: head, end: head, timeMs: 0, players: wallets.count, marks: [] };
  const sealed = codec.sealManifest({ ...manifest, chunks: chunks.map(({ summary }) => summary) });
  const reader = codec.beginReading(codec.openManifest(sealed));
  for (const { bytes } of chunks) atOnce(reader.addChunk(bytes));
  return reader.finish();
}

export function throughLog(events: readonly Event[]): readonly Event[] {
  const [entry] = entriesOf(events, events.length);
  return entry?.events ?? [];
}

/** The events as entries of a log with `perEntry` events each, encoded and decoded. */
export function* entriesOf(events: readonly Event[], perEntry: number): Iterable<Entry> {
  const codec = new EntryCodec(STORE_ID);
  const previous = genesisHead(STORE_ID, 0);
  for (let first = 0; first < events.length; first += perEntry) {
    const some = events.slice(first, first + perEntry);
    const batch = codec.beginBatch(some[0]?.timeMs ?? 0);
    for (const event of some) batch.add(event);
    const lsn = { epoch: 0, sequence: 1 + first / perEntry };
    yield codec.decode(batch.seal({ shard: 0, lsn, nonce: previous.nonce, previous }).bytes);
  }
}

type Envelope = Partial<Pick<CallbackCommand, 'id' | 'timestampMillis' | 'productId' | 'currency' | 'username'>>;

const envelope = { id: 'req', timestampMillis: 1000, productId: 'P1', currency: 'THB', username: 'ann' };
const game = { gameCode: 'g', playInfo: 'p' };

/** Commands with default values for fields that do not matter in a test. */
export const commands = {
  checkBalance: (over: Envelope = {}): CheckBalanceCommand => ({ type: 'checkBalance', ...envelope, ...over }),
  place: (txns: readonly (Partial<PlaceTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'placeBets',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({
      ...game,
      roundId: 'r1',
      status: 'OPEN',
      betAmount: 10,
      isFeature: false,
      isFeatureBuy: false,
      skipBalanceUpdate: false,
      ...txn,
    })),
  }),
  settle: (txns: readonly (Partial<SettleTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'settleBets',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({
      ...game,
      roundId: 'r1',
      betAmount: 10,
      payoutAmount: 15,
      turnOver: 0,
      isSingleState: false,
      byRound: false,
      isEndRound: false,
      isFeature: false,
      isFeatureBuy: false,
      skipBalanceUpdate: false,
      ...txn,
    })),
  }),
  adjust: (txns: readonly (Partial<AdjustTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'adjustBets',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ ...game, roundId: 'r1', betAmount: 10, ...txn })),
  }),
  void: (txns: readonly (Partial<VoidTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'voidSettled',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ ...game, roundId: 'r1', betAmount: 10, payoutAmount: 15, byRound: false, ...txn })),
  }),
  cancel: (txns: readonly (Partial<CancelTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'cancelBets',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ ...game, roundId: 'r1', status: 'REFUND', betAmount: 10, byRound: false, ...txn })),
  }),
  tip: (txns: readonly (Partial<CancelTipTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'cancelTips',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ roundId: 'r1', betAmount: 10, ...txn })),
  }),
  rollback: (txns: readonly (Partial<RollbackTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'rollback',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({
      roundId: 'r1',
      betAmount: 10,
      payoutAmount: 15,
      byRound: false,
      skipBalanceUpdate: false,
      ...txn,
    })),
  }),
  placeTip: (txns: readonly (Partial<PlaceTipTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'placeTips',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ roundId: 'r1', betAmount: 10, skipBalanceUpdate: false, ...txn })),
  }),
  reward: (txns: readonly (Partial<RewardTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'winRewards',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ ...game, roundId: 'r1', betAmount: 0, payoutAmount: 15, ...txn })),
  }),
  movement: (txns: readonly (Partial<MovementTxn> & { id: string })[], over: Envelope = {}): CallbackCommand => ({
    type: 'adjustBalance',
    ...envelope,
    ...over,
    txns: txns.map((txn) => ({ roundId: txn.id, status: 'DEBIT', amount: 10, isTooMuch: false, ...txn })),
  }),
};
