import type { Database } from 'lmdb';
import { RecoveryError } from '../../ports/recovery-error.js';
import type { Head } from '../../ports/wal.js';
import { decodeHead, encodeHead } from '../format/entry-codec.js';
import type { Commits } from './commits.js';
import { headKey } from './keys.js';

const ATTEMPTS_MAX = 100;

/**
 * The heads of all logs, and the compare-and-set behind every write to the store. lmdb's writer thread compares the
 * head's version inside the transaction that writes, so the comparison also holds between processes and never waits for
 * the event loop. lmdb's `transaction` with a callback would wait: it holds the lock of the whole store until its
 * thread's event loop runs the callback. In a measurement, another thread's append took 449 ms while that loop was busy
 * for 500 ms.
 */
export class Heads {
  /** By shard: head of the newest append that was sent but has not been committed yet. */
  private readonly sent = new Map<number, Head>();

  constructor(
    private readonly database: Database<Buffer, Buffer>,
    private readonly commits: Commits,
  ) {}

  /** The current head, even if the head changed after this turn's read transaction began. */
  newest(shard: number): Head {
    this.database.resetReadTxn();
    return this.must(shard);
  }

  /** The head as of this turn's read transaction. Throws a `RecoveryError` if there is none. */
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
   * Replaces the head and commits the writes that `write` queues, provided that the head is the expected one; otherwise
   * resolves with false. The caller waits for the commit, because it may queue several replacements.
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
   * Commits the writes that `write` queues, provided that the owner with this nonce appended the newest entry;
   * otherwise resolves with false. Calls `write` again if that owner appended meanwhile.
   */
  async writeAs(nonce: string, shard: number, write: () => void): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      // While an append is pending, only the head that it writes can match.
      const head = this.sent.get(shard) ?? this.newest(shard);
      if (head.nonce !== nonce) return false;
      if (await this.compareAndWrite(shard, head, write)) return true;
    }
    throw new Error(`the owner of the log was faster ${ATTEMPTS_MAX} times`);
  }

  private async compareAndWrite(shard: number, expected: Head, write: () => void): Promise<boolean> {
    try {
      return await this.commits.completed(this.database.ifVersion(headKey(shard), versionOf(expected), write));
    } catch (error) {
      throw await this.commits.causeOf(error);
    }
  }
}

/**
 * The version that represents a head: 52 bits of a double, made of 20 bits of the sequence and all 32 bits of the
 * checksum. The checksum covers the nonce, position and content. Two different heads of one log therefore practically
 * never share a version, and consecutive heads never do.
 */
function versionOf(head: Head): number {
  return (head.lsn.sequence % 2 ** 20) * 2 ** 32 + head.checksum + 1;
}
