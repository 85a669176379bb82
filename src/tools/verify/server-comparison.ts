import { compareLsn, type Lsn } from '../../shard/log/lsn.js';
import type { Replay } from '../../shard/log/replay.js';
import { formatUnits, type ScaleTable } from '../../wallet/amount.js';
import type { Wallet } from '../../wallet/state/wallet.js';
import type { Findings } from './findings.js';

/** A player as the running server holds it. */
export interface ServerPlayer {
  readonly username: string;
  readonly currency: string;
  readonly version: number;
  /** In decimals. */
  readonly balance: string;
}

/** The server that holds the wallets now. */
export interface PlayerSource {
  /** All players of a shard. Throws a `ToolError` when the server does not answer. */
  players(shard: number): Promise<readonly ServerPlayer[]>;
}

interface Expected extends ServerPlayer {
  isDone: boolean;
}

/**
 * Compares a server's answer with the log, which is read afterwards. The server answers only with durable versions, so
 * the log reaches each of them. When the replay passes such a version, the balance must be the answered one.
 */
export class ServerComparison {
  /** Players whose balance was compared. */
  compared = 0;
  /** Players whose snapshot is newer than the server's answer: their balance at that version is no longer known. */
  movedOn = 0;
  private readonly expected: ReadonlyMap<string, Expected>;
  /** Players who may have been created after the server answered. */
  private readonly late = new Set<string>();

  constructor(
    private readonly shard: number,
    answered: readonly ServerPlayer[],
    /** The newest entry before the request: the answer contains all players created up to here. */
    private readonly askedAfter: Lsn,
    private readonly scales: ScaleTable,
    private readonly findings: Findings,
  ) {
    this.expected = new Map(answered.map((player) => [player.username, { ...player, isDone: false }]));
  }

  /** Takes a wallet with which the replay begins. */
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

  /** Takes a wallet after an event of the entry `lsn`. */
  pass(wallet: Wallet, lsn: Lsn): void {
    const expected = this.expected.get(wallet.username);
    if (expected === undefined) {
      if (wallet.version === 1 && compareLsn(lsn, this.askedAfter) > 0) this.late.add(wallet.username);
    } else if (!expected.isDone && wallet.version === expected.version) {
      expected.isDone = true;
      this.compare(wallet, expected);
    }
  }

  /** Takes a wallet at the end of the log. */
  end({ username, version }: Wallet): void {
    const expected = this.expected.get(username);
    if (expected === undefined) {
      if (!this.late.has(username)) this.add(`${username} is in the log, and the server does not have that player`);
    } else if (!expected.isDone) {
      expected.isDone = true;
      this.add(`${username} has version ${expected.version} on the server, and the log ends with version ${version}`);
    }
  }

  /** Reports missing players. Call after `end` has taken all wallets. */
  finish(): void {
    for (const { username, isDone } of this.expected.values()) {
      if (!isDone) this.add(`${username} is on the server, and not in the log`);
    }
  }

  private compare({ username, currency, version, balance }: Wallet, expected: Expected): void {
    this.compared++;
    const text = formatUnits(balance, this.scales.of(currency));
    if (text === expected.balance && currency === expected.currency) return;
    const theirs = `${expected.balance} ${expected.currency}`;
    this.add(`${username} has ${theirs} on the server at version ${version}, and ${text} ${currency} in the log`);
  }

  private add(what: string): void {
    this.findings.add('server', `shard ${this.shard}: ${what}`);
  }
}
