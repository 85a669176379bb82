import { currentHashKey, keyedHash } from '../../base/keyed-hash.js';
import type { OnProgress } from '../../base/progress.js';
import { type StoreReader, shardsOf } from '../store-reader.js';
import type { Columns } from './columns.js';
import { Comparison, type Counts, keyOfBet, keyOfCredit, keyOfRound, type RoundPayoutPart } from './comparison.js';
import type { Difference } from './difference.js';
import { type OurBet, type OurCredit, type OurRound, readRound } from './our-bet.js';
import { eachRound } from './our-bets.js';
import { type PlatformRecord, platformRecord } from './platform-record.js';
import { rawRecords } from './raw-records.js';
import { Spill } from './spill.js';
import { Sums } from './sums.js';
import type { Window } from './window.js';

/*
 * Reconcile compares the platform's bet history with the bets in walletd. Memory use grows with neither:
 *
 *   history -> raw-records -> platform-record --.                      .-> differences
 *              (columns.ts)                      '-> parts on disk --> comparison -> sums
 *   store ---> our-bets ----> our-bet ----------'    (spill.ts)        '-> hanging payouts -> rounds
 *
 * The hash of a bet's name selects its part, so that a bet and its record are always in the same part. Payouts that
 * belong to complete rounds are set aside in parts by round, and are compared after all bets.
 */

/** With ten million records, each part has ten thousand. */
const PARTS = 1024;

export interface ReconcileOptions {
  readonly columns: Columns;
  readonly window: Window;
  /** A folder for temporary files. */
  readonly folder: string;
  /** Called with the differences of one part. Resolves when the receiver is ready for more. */
  readonly onDifferences: (differences: readonly Difference[]) => Promise<void>;
  /** Share of the history that has been read, from 0 to 1. */
  readonly readPart?: () => number;
  readonly onProgress?: OnProgress;
}

export interface Reconciliation {
  readonly counts: Counts;
  readonly sums: Sums;
}

/**
 * Compares a history with a store. Throws a `ToolError` for an unreadable record, and a `RecoveryError` if the store is
 * damaged.
 */
export async function reconcile(
  history: AsyncIterable<Uint8Array>,
  reader: StoreReader,
  options: ReconcileOptions,
): Promise<Reconciliation> {
  const parts = new Parts(options.folder);
  try {
    await readTheirs(history, reader, parts, options);
    await readOurs(reader, parts, options);
    return await compare(reader, parts, options);
  } finally {
    parts.close();
  }
}

class Parts {
  readonly theirs: Spill<PlatformRecord>;
  readonly bets: Spill<OurBet>;
  readonly rounds: Spill<OurRound>;
  readonly credits: Spill<OurCredit>;
  readonly hanging: Spill<RoundPayoutPart>;

  constructor(folder: string) {
    this.theirs = new Spill(folder, PARTS);
    this.bets = new Spill(folder, PARTS);
    this.rounds = new Spill(folder, PARTS);
    this.credits = new Spill(folder, PARTS);
    this.hanging = new Spill(folder, PARTS);
  }

  close(): void {
    for (const spill of [this.theirs, this.bets, this.rounds, this.credits, this.hanging]) spill.close();
  }
}

/**
 * Number of a key's part. The largest part determines memory use, and game providers choose the ids. Therefore the hash
 * is keyed, so that providers cannot choose ids that all fall into one part.
 */
function partOf(key: string): number {
  const bytes = Buffer.from(key);
  return keyedHash(currentHashKey(), 0, 0, bytes, 0, bytes.length) % PARTS;
}

/* Shares of the progress bar for its three phases: reading the history, reading the store, and comparing. */
const READ_STEPS = 400;
const STORE_STEPS = 400;
const COMPARE_STEPS = 200;
const ALL_STEPS = READ_STEPS + STORE_STEPS + COMPARE_STEPS;

async function readTheirs(
  history: AsyncIterable<Uint8Array>,
  { scales, yieldTurn }: StoreReader,
  { theirs }: Parts,
  { columns, readPart, onProgress }: ReconcileOptions,
): Promise<void> {
  for await (const batch of rawRecords(history, columns)) {
    for (const raw of batch) {
      const record = platformRecord(raw, columns, scales);
      theirs.add(partOf(keyOfBet(record)), record);
    }
    onProgress?.(Math.round((readPart?.() ?? 0) * READ_STEPS), ALL_STEPS);
    await yieldTurn();
  }
}

async function readOurs(
  reader: StoreReader,
  { bets, rounds, credits }: Parts,
  { onProgress }: ReconcileOptions,
): Promise<void> {
  for (const shard of shardsOf(reader)) {
    await eachRound(shard, reader, (round, player, age) => {
      const read = readRound(round, player, age);
      for (const bet of read.bets) bets.add(partOf(keyOfBet(bet)), bet);
      if (read.round !== undefined) rounds.add(partOf(keyOfRound(read.round)), read.round);
      for (const credit of read.credits) credits.add(partOf(keyOfCredit(credit)), credit);
    });
    onProgress?.(READ_STEPS + Math.round(((shard + 1) / reader.shards) * STORE_STEPS), ALL_STEPS);
  }
}

async function compare(
  { yieldTurn }: StoreReader,
  { theirs, bets, rounds, credits, hanging }: Parts,
  { window, onDifferences, onProgress }: ReconcileOptions,
): Promise<Reconciliation> {
  const sums = new Sums();
  let found: Difference[] = [];
  const comparison = new Comparison(
    window,
    sums,
    (difference) => void found.push(difference),
    (part) => hanging.add(partOf(keyOfRound(part)), part),
  );
  const report = async (done: number) => {
    if (found.length > 0) await onDifferences(found);
    found = [];
    onProgress?.(READ_STEPS + STORE_STEPS + Math.round((done / (2 * PARTS)) * COMPARE_STEPS), ALL_STEPS);
    await yieldTurn();
  };
  for (let part = 0; part < PARTS; part++) {
    comparison.bets(theirs.read(part), bets.read(part));
    comparison.credits(credits.read(part));
    await report(part);
  }
  for (let part = 0; part < PARTS; part++) {
    comparison.rounds(hanging.read(part), rounds.read(part));
    await report(PARTS + part);
  }
  return { counts: comparison.counts, sums };
}
