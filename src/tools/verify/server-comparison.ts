import type { Replay } from '../../log/replay.js';
import { compareLsn, type Lsn } from '../../ports/lsn.js';
import { formatUnits, type ScaleTable } from '../../wallet/amount.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { Findings } from './findings.js';

/** A player's state on the running server. */
export interface ServerPlayer {
  readonly username: string;
  readonly currency: string;
  readonly version: number;
  /** The balance as decimal text. */
  readonly balance: string;
}

/** The server that currently holds the wallets. */
export interface PlayerSource {
  /** All players of a shard. Throws a `ToolError` if the server does not answer. */
  players(shard: number): Promise<readonly ServerPlayer[]>;
}

interface Expected extends ServerPlayer {
  isDone: boolean;
}

/**
 * Compares a server's answer with the log, which is read after the answer. The server answers only with durable
 * versions, so the log contains every one of them. When the replay reaches such a version, the balance must equal the
 * one in the answer.
 */
export class ServerComparison {
  /** Number of players whose balance was compared. */
  compared = 0;
  /**
   * Number of players whose snapshot is newer than the server's answer, so that their balance at the version in the
   * answer is no longer known.
   */
  movedOn = 0;
  private readonly expected: ReadonlyMap<string, Expected>;
  /** Players who may have been created after the server answered. */
  private readonly late = new Set<string>();

  constructor(
    private readonly shard: number,
    answered: readonly ServerPlayer[],
    /** The newest entry before the request was sent. The answer contains all players created up to this entry. */
    private readonly askedAfter: Lsn,
    private readonly scales: ScaleTable,
    private readonly findings: Findings,
  ) {
    this.expected = new Map(answered.map((player) => [player.username, { ...player, isDone: false }]));
  }

  /** Processes a wallet with which the replay begins. */
  begin(wallet: Wallet, { end }: Replay): void {
    const expected = this.expected.get(wallet.username);
    if (expected === undefined) {
      if (compareLsn(end, this.askedAfter) > 0) this.late.add(wallet.username);
    } else if (!expected.isDone && wallet.version > expected.version) {
      expected.isDone = true;
      this.movedOn++;
    } else {
      this.pass(wallet, end);
    }
  }

  /** Processes a wallet after an event of the entry `lsn`. */
  pass(wallet: Wallet, lsn: Lsn): void {
    const expected = this.expected.get(wallet.username);
    if (expected === undefined) {
      if (wallet.version === 1 && compareLsn(lsn, this.askedAfter) > 0) this.late.add(wallet.username);
    } else if (!expected.isDone && wallet.version === expected.version) {
      expected.isDone = true;
      this.compare(wallet, expected);
    }
  }

  /** Processes a wallet at the end of the log. */
  end({ username, version }: Wallet): void {
    const expected = this.expected.get(username);
    if (expected === undefined) {
      if (!this.late.has(username)) this.add(`${username} is in the log, but not on the server`);
    } else if (!expected.isDone) {
      expected.isDone = true;
      this.add(`${username} has version ${expected.version} on the server, but the log ends with version ${version}`);
    }
  }

  /** Reports missing players. Must be called after `end` has processed all wallets. */
  finish(): void {
    for (const { username, isDone } of this.expected.values()) {
      if (!isDone) this.add(`${username} is on the server, but not in the log`);
    }
  }

  private compare({ username, currency, version, balance }: Wallet, expected: Expected): void {
    this.compared++;
    const text = formatUnits(balance, this.scales.of(currency));
    if (text === expected.balance && currency === expected.currency) return;
    const theirs = `${expected.balance} ${expected.currency}`;
    this.add(`${username} has ${theirs} on the server at version ${version}, but ${text} ${currency} in the log`);
  }

  private add(what: string): void {
    this.findings.add('server', `shard ${this.shard}: ${what}`);
  }
}
