import { must } from '../base/assert.js';
import { dayOf } from '../base/time.js';
import type { ArchiveKey } from '../ports/archive.js';
import type { Head } from '../ports/wal.js';
import type { Event } from '../wallet/event.js';
import type { Wallets } from '../wallet/state/wallets.js';
import { hashOfName, hashOfPlayer, hashOfTransaction } from './archive-hash.js';

/**
 * Maximum number of keys, which then take 64 MB. If there are more keys, the node reads them from the archive at
 * startup.
 */
const NAMES_MAX = 2 ** 22;
const FIRST_NAMES = 2 ** 10;
/** Number of words per key: day, player, kind and hash. */
const WORDS = 4;
const ROUND = 0;
const TRANSACTION = 1;

/**
 * Starting state of a replay: the beginning of the log, when no round has left memory, or a snapshot, or wallets that
 * this node served.
 */
export type LeftBase = 'nothing' | 'snapshot' | 'served';

/**
 * Keys of the rounds that leave memory during a replay. Together with a key filter that covers the log at least up to
 * `since`, these are all of the archive's keys for this log.
 */
export class EvictedKeys {
  private words = new Uint32Array(FIRST_NAMES * WORDS);
  private count = 0;
  /** True if some keys are missing because there were more than `NAMES_MAX`. */
  private isCut = false;
  /** True if some keys are missing because their rounds had already left memory in the snapshot's wallet. */
  private hasSkipped = false;

  /** True once keys have been handed out. From then on, the remaining keys are not enough for another receiver. */
  private isBegun = false;

  /** `since` is the newest entry whose events `base` may contain. */
  constructor(
    readonly since: Head,
    private readonly base: LeftBase,
  ) {}

  /** True if these are all of the archive's keys for this log. */
  get isAll(): boolean {
    return this.base === 'nothing' && !this.hasSkipped && this.isWhole;
  }

  /** True if these are all keys from the entries after `since`. */
  get isWhole(): boolean {
    return !this.isCut && !this.isBegun;
  }

  /**
   * True if these keys, together with the filter that this node had while it served the shard, are all of the archive's
   * keys.
   */
  get followsServed(): boolean {
    return this.base === 'served' && this.isWhole;
  }

  /** True if no key is missing, apart from those that have already been handed out. */
  get isUnbroken(): boolean {
    return !this.isCut;
  }

  /**
   * Records the keys of an event. Must be called before the event is applied, while the wallet still has the rounds.
   */
  note(event: Event, wallets: Wallets): void {
    if (event.type !== 'rounds-archived') return;
    const wallet = must(wallets.get(event.username), 'archived rounds have a wallet');
    const player = hashOfPlayer(event.username);
    for (const { productId, roundId } of event.rounds) {
      const members = must(wallet.round(productId, roundId), 'an archived round is in its wallet').members();
      // The archiver stored the round under this day, because the round has not changed since.
      const day = dayOf(members.reduce((newest, { updatedMs }) => Math.max(newest, updatedMs), 0));
      this.add(day, player, ROUND, hashOfName(productId, roundId));
      for (const { kind, id } of members) {
        if (kind !== 'mark') this.add(day, player, TRANSACTION, hashOfTransaction(kind, productId, roundId, id));
      }
    }
  }

  /** Records an event that the snapshot's wallet already contains. */
  skip(event: Event): void {
    if (event.type === 'rounds-archived') this.hasSkipped = true;
  }

  /** Passes all keys to `learn` and discards them. */
  take(learn: (day: number, player: number, kind: ArchiveKey['kind'], hash: number) => void): void {
    const { words, count } = this;
    this.isBegun = true;
    if (count === 0) return;
    this.words = new Uint32Array(FIRST_NAMES * WORDS);
    this.count = 0;
    for (let at = 0; at < count * WORDS; at += WORDS) {
      const kind = words[at + 2] === ROUND ? 'round' : 'transaction';
      learn(words[at] as number, words[at + 1] as number, kind, words[at + 3] as number);
    }
  }

  private add(day: number, player: number, kind: number, hash: number): void {
    if (this.count === NAMES_MAX) {
      this.isCut = true;
      return;
    }
    if (this.count * WORDS === this.words.length) {
      const words = new Uint32Array(this.words.length * 2);
      words.set(this.words);
      this.words = words;
    }
    this.words.set([day, player, kind, hash], this.count * WORDS);
    this.count++;
  }
}
