import { must } from '../../base/assert.js';
import { dayOf } from '../../base/time.js';
import type { Event } from '../../wallet/event.js';
import type { Wallets } from '../../wallet/state/wallets.js';
import type { Head } from '../log/wal.js';
import type { ArchiveName } from './archive.js';
import { hashOfName, hashOfPlayer, hashOfTransaction } from './archive-hash.js';

/** 64 MB of names; with more than these a start reads the archive. */
const NAMES_MAX = 2 ** 22;
const FIRST_NAMES = 2 ** 10;
/** Day, player, kind, hash. */
const WORDS = 4;
const ROUND = 0;
const TRANSACTION = 1;

/** Base of a replay: a log without a round that has left memory, a snapshot, or wallets that were served here. */
export type LeftBase = 'nothing' | 'snapshot' | 'served';

/**
 * Names of the rounds that leave memory in the entries that a replay takes. Together with a set of names that covers the log up to
 * `since`, or up to a later entry, they are all names that the archive has of this log.
 */
export class LeftNames {
  private words = new Uint32Array(FIRST_NAMES * WORDS);
  private count = 0;
  /** Some are missing: there were too many of them. */
  private isCut = false;
  /** A wallet of the snapshot had let rounds go already: which transactions they had is not known. */
  private hasSkipped = false;

  /** Some were handed out: the rest is of use to nobody else. */
  private isBegun = false;

  /** `since`: the newest entry of which `base` may hold something. */
  constructor(
    readonly since: Head,
    private readonly base: LeftBase,
  ) {}

  /** No name that the archive has of this log is missing. */
  get isAll(): boolean {
    return this.base === 'nothing' && !this.hasSkipped && this.isWhole;
  }

  /** No name of the entries after `since` is missing. */
  get isWhole(): boolean {
    return !this.isCut && !this.isBegun;
  }

  /** These names go on from the ones that this node knew when it served the shard. */
  get followsServed(): boolean {
    return this.base === 'served' && this.isWhole;
  }

  /** No name is missing among those that were handed out and those that will be. */
  get isUnbroken(): boolean {
    return !this.isCut;
  }

  /** To be called before the event is applied, while the wallet has the rounds. */
  note(event: Event, wallets: Wallets): void {
    if (event.type !== 'rounds-archived') return;
    const wallet = must(wallets.get(event.username), 'rounds leave a wallet');
    const player = hashOfPlayer(event.username);
    for (const { productId, roundId } of event.rounds) {
      const members = must(wallet.round(productId, roundId), 'a round that leaves is there').members();
      // As the archiver chose the day when it put the round, which has not changed since.
      const day = dayOf(members.reduce((newest, { updatedMs }) => Math.max(newest, updatedMs), 0));
      this.add(day, player, ROUND, hashOfName(productId, roundId));
      for (const { kind, id } of members) {
        if (kind !== 'mark') this.add(day, player, TRANSACTION, hashOfTransaction(kind, productId, roundId, id));
      }
    }
  }

  /** The wallet of the snapshot has the event already. */
  skip(event: Event): void {
    if (event.type === 'rounds-archived') this.hasSkipped = true;
  }

  /** Hands out all names, and has none of them any more. */
  take(learn: (day: number, player: number, kind: ArchiveName['kind'], hash: number) => void): void {
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
