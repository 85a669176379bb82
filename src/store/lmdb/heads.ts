import type { Database } from 'lmdb';
import { RecoveryError } from '../../shard/log/recovery-error.js';
import type { Head } from '../../shard/log/wal.js';
import { decodeHead, encodeHead } from '../format/entry-codec.js';
import type { Commits } from './commits.js';
import { headKey } from './keys.js';

const ATTEMPTS_MAX = 100;

/**
 * The heads of all logs, and the compare-and-set that every write of the store uses. lmdb's writing thread compares the
 * head's version in the transaction that writes. The comparison also holds between processes, and the transaction never
 * waits for the event loop. (A transaction with a callback does: lmdb's `transaction` holds the lock of the whole store
 * until its thread's event loop runs it. Measured: 449 ms for another thread's append while that loop was busy for
 * 500.)
 */
export class Heads {
  /** By shard: heads of appends that were sent and are not committed yet. */
  private readonly sent = new Map<number, Head>();

  constructor(
    private readonly database: Database<Buffer, Buffer>,
    private readonly commits: Commits,
  ) {}

  /** The current head, not the one at the start of this turn's read transaction. */
  newest(shard: number): Head {
    this.database.resetReadTxn();
    return this.must(shard);
  }

  /** The head at the start of this turn's read transaction. Throws a `RecoveryError` when there is none. */
  must(shard: number): Head {
    const bytes = this.database.get(headKey(shard));
    if (bytes === undefined)
      throw new RecoveryError(`the log of shard ${shard} has no head: restore a backup elsewhere`);
    return decodeHead(bytes);
  }

  /** Must be called within a transaction. */
  put(shard: number, head: Head): void {
    this.database.put(headKey(shard), encodeHead(head), versionOf(head));
  }

  /** Must be called within a transaction. */
  remove(shard: number): void {
    this.database.remove(headKey(shard));
  }

  /**
   * Replaces the head and does the writes that `write` queues, if the head is the expected one; otherwise resolves to
   * false. The caller waits for the commit, because it may queue several.
   */
  async replace(shard: number, expected: Head, head: Head, write: () => void): Promise<boolean> {
    this.sent.set(shard, head);
    try {
      return await this.database.ifVersion(headKey(shard), versionOf(expected), () => {
        this.put(shard, head);
        write();
      });
    } catch (error) {
      throw await this.commits.causeOf(error);
    } finally {
      if (this.sent.get(shard) === head) this.sent.delete(shard);
    }
  }

  /**
   * Does the writes that `write` queues, if the newest entry is by the owner with this nonce; otherwise resolves to
   * false. `write` is called again when that owner appended meanwhile.
   */
  async writeAs(nonce: string, shard: number, write: () => void): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      // While an append is pending, only the head that it writes can be the right one.
      const head = this.sent.get(shard) ?? this.newest(shard);
      if (head.nonce !== nonce) return false;
      if (await this.compareAndWrite(shard, head, write)) return true;
    }
    throw new Error(`the owner of the log was faster ${ATTEMPTS_MAX} times`);
  }

  private async compareAndWrite(shard: number, expected: Head, write: () => void): Promise<boolean> {
    try {
      return await this.commits.landed(this.database.ifVersion(headKey(shard), versionOf(expected), write));
    } catch (error) {
      throw await this.commits.causeOf(error);
    }
  }
}

/**
 * The version that represents a head: 52 bits of a double, 20 of the sequence and all 32 of the checksum. The checksum
 * covers nonce, position and content. Two different heads of one log therefore never share a version in practice, and
 * neighbours cannot share one at all.
 */
function versionOf(head: Head): number {
  return (head.lsn.sequence % 2 ** 20) * 2 ** 32 + head.checksum + 1;
}
