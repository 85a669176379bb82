import { readLog } from '../../log/log-reader.js';
import type { ArchiveRecord } from '../../ports/archive.js';
import type { Lsn } from '../../ports/lsn.js';
import type { Round } from '../../wallet/state/round.js';
import { addSerializedRound, nameOfSerialized } from '../../wallet/state/serialized-round.js';
import { Tables } from '../../wallet/state/tables.js';
import { Wallet } from '../../wallet/state/wallet.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import { forEachWallet } from '../each-wallet.js';
import { newestReplay } from '../snapshot-replay.js';
import { type StoreReader, ToolError } from '../store-reader.js';
import type { Age } from './our-bet.js';

export type TakeRound = (
  round: Round,
  player: { readonly username: string; readonly currency: string },
  age: Age,
) => void;

/**
 * Number of archived rounds to unpack into one set of tables. Emptying the tables after every round took longer than
 * reading the archive.
 */
const WORKING_ROUNDS = 50;
/** An index of rounds in memory, which take precedence over all records archived at the same end of the log. */
const IN_MEMORY = Number.MAX_SAFE_INTEGER;

/**
 * Calls `take` with every round of a shard: first the rounds in its wallets at the end of the log, then those in the
 * archive. The same round can come twice, either because a server is running or because the round was restored from the
 * archive. The round with the newest `age` counts. Throws a `RecoveryError` on damage.
 */
export async function eachRound(shard: number, reader: StoreReader, take: TakeRound): Promise<void> {
  const replay = await newestReplay(shard, reader);
  for await (const page of readLog(shard, replay.start, reader)) {
    for (const read of page) {
      if (reader.archive === undefined && read.entry.events.some(({ type }) => type === 'rounds-archived')) {
        throw new ToolError(`rounds of shard ${shard} are in an archive: set WALLETD_ARCHIVE`);
      }
      replay.take(read);
    }
    await reader.yieldTurn();
  }
  const { wallets, head } = replay;
  await forEachWallet(wallets, reader, (wallet) => takeWallet(wallet, ageOf(head.lsn, IN_MEMORY), take));
  await takeArchive(shard, reader, wallets, take);
}

function takeWallet(wallet: Wallet, age: Age, take: TakeRound): void {
  const { username, currency } = wallet;
  const taken = new Set<number>();
  for (const { round } of wallet.transactions()) {
    if (taken.has(round.row)) continue;
    taken.add(round.row);
    take(round, { username, currency }, age);
  }
}

async function takeArchive(
  shard: number,
  { archive, yieldTurn }: StoreReader,
  wallets: Wallets,
  take: TakeRound,
): Promise<void> {
  const tables = new Tables();
  let working = tables.copyToWorkOn();
  for (const day of (await archive?.days()) ?? []) {
    for await (const records of archive?.all(shard, day) ?? []) {
      for (const record of records) {
        if (working.rounds.count >= WORKING_ROUNDS) working = tables.copyToWorkOn();
        takeRecord(record, wallets, working, take);
      }
      await yieldTurn();
    }
  }
}

function takeRecord({ image, lsn, index }: ArchiveRecord, wallets: Wallets, working: Tables, take: TakeRound): void {
  const { username } = nameOfSerialized(image);
  const currency = wallets.peek(username)?.currency;
  // Skip a player who was created after the wallets were read.
  if (currency === undefined) return;
  const copy = Wallet.begin(working, currency, username);
  const [member] = addSerializedRound(copy, image);
  if (member !== undefined) take(member.round, { username, currency }, ageOf(lsn, index));
}

function ageOf({ epoch, sequence }: Lsn, index: number): Age {
  return [epoch, sequence, index];
}
