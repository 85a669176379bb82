import { assert } from '../../base/assert.js';
import { atOnce } from '../../base/steps.js';
import { ByteWriter } from '../records/byte-writer.js';
import { Cursor } from '../records/bytes.js';
import type { Round, RoundName, Transaction } from './round.js';
import type { Wallet } from './wallet.js';
import { idsOfRounds, type NamedIds, readRounds, roundRemembersMessages, writeOneRound } from './wallet-body.js';

/*
 * The format of a serialized round, in the archive and in the event that restores the round:
 *
 *   username (text), then the part of a hibernated wallet's record from its transactions on; see wallet-body.ts
 */
const writer = new ByteWriter();

export function serializeRound(
  wallet: Wallet,
  round: Round,
  members: readonly Transaction[] = round.members(),
): Buffer {
  writer.length = 0;
  wallet.writeUsername(writer);
  writeOneRound(writer, round, members);
  return writer.copied();
}

/** The player and the name of a serialized round. */
export function nameOfSerialized(image: Buffer): RoundName & { readonly username: string } {
  const cursor = new Cursor(image, 0);
  const username = cursor.text();
  assert(cursor.number() > 0, 'a round has transactions');
  assert(cursor.number() === 0 && cursor.number() === 0, 'the first transaction names the round, and that its product');
  return { username, productId: cursor.text(), roundId: cursor.text() };
}

export function idsOfSerialized(image: Buffer): NamedIds {
  const cursor = new Cursor(image, 0);
  cursor.skipText();
  return idsOfRounds(cursor);
}

/** True if the round remembers messages, which an older walletd cannot read. */
export function imageRemembers(image: Buffer): boolean {
  const cursor = new Cursor(image, 0);
  cursor.skipText();
  idsOfRounds(cursor);
  return roundRemembersMessages(cursor);
}

/** Adds the round to a wallet that lacks it; returns its transactions, oldest first. */
export function addSerializedRound(wallet: Wallet, image: Buffer): readonly Transaction[] {
  const cursor = new Cursor(image, 0);
  assert(cursor.text() === wallet.username, 'a round comes back to its own player');
  const transactions = atOnce(readRounds(cursor, wallet));
  assert(cursor.at === image.length, 'an image ends with its round');
  return transactions;
}
