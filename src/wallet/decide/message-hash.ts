import type { CallbackCommand } from '../command.js';

type Txn = CallbackCommand['txns'][number];

/**
 * A hash of an acknowledged message to 53 bits: endpoint, request id, and the fields of each element that affect its
 * decision. The time is excluded, because a platform that regenerates a message gives it a new time. `isTimed` includes
 * the time, for platforms that reuse request ids. Only messages that name the same round are compared, so the chance of
 * a false repeat is one in 2^53 per pair. The hash needs no secret key: by crafting ids, a platform could only make its
 * own second message look like a repeat of its first. The hash is stored permanently, so it must never change.
 */
export function hashOfMessage({ type, id, timestampMillis, txns }: CallbackCommand, isTimed: boolean): number {
  mixer.begin();
  mixer.text(type);
  mixer.text(id);
  if (isTimed) mixer.text(String(timestampMillis));
  for (const txn of txns) mixElement(txn);
  return mixer.end();
}

function mixElement(txn: Txn): void {
  mixer.text(txn.id);
  mixer.text(txn.roundId);
  mixer.text('status' in txn ? txn.status : '');
  mixer.number('betAmount' in txn ? txn.betAmount : -1);
  mixer.number('payoutAmount' in txn ? txn.payoutAmount : -1);
  mixer.number('amount' in txn ? txn.amount : -1);
  mixer.flag('byRound' in txn && txn.byRound);
  mixer.flag('skipBalanceUpdate' in txn && txn.skipBalanceUpdate);
  mixer.flag('isSingleState' in txn && txn.isSingleState);
  mixer.flag('isEndRound' in txn && txn.isEndRound);
}

/** Two FNV-1a hashes, which are mixed with each other after each UTF-16 unit, followed by MurmurHash3's finalizer. */
class Mixer {
  private low = 0;
  private high = 0;

  begin(): void {
    this.low = 0x811c9dc5;
    this.high = 0x9747b28c;
  }

  /** Adds the text and then its length, so that the boundary between adjacent texts is unambiguous. */
  text(text: string): void {
    for (let i = 0; i < text.length; i++) this.unit(text.charCodeAt(i));
    this.number(text.length);
  }

  /** Adds a safe integer. */
  number(value: number): void {
    this.unit(value % 0x10000);
    for (let rest = Math.trunc(value / 0x10000); rest !== 0; rest = Math.trunc(rest / 0x10000))
      this.unit(rest % 0x10000);
    this.unit(0x10000);
  }

  flag(isSet: boolean): void {
    this.unit(isSet ? 1 : 2);
  }

  end(): number {
    const low = finish(this.low ^ this.high);
    const high = finish(Math.imul(this.high, 0x85ebca6b) ^ low);
    return (high & 0x1fffff) * 2 ** 32 + low;
  }

  private unit(unit: number): void {
    this.low = Math.imul(this.low ^ unit, 0x01000193);
    this.low ^= this.low >>> 15;
    this.high = Math.imul(this.high ^ this.low, 0x5bd1e995);
    this.high ^= this.high >>> 13;
    this.low ^= this.high;
  }
}

function finish(half: number): number {
  let hash = Math.imul(half ^ (half >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const mixer = new Mixer();
