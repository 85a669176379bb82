import type { Redis } from 'ioredis';
import { OverdueError } from '../../log/timely-append.js';
import { formatLsn } from '../../ports/lsn.js';
import type { Append, AppendOutcome, Head } from '../../ports/wal.js';
import { decodeHead, encodeHead, HEAD_LENGTH } from '../format/entry-codec.js';
import { confirmed, type Durability, waitsFor } from './durability.js';
import { APPEND } from './functions.js';
import type { Keys } from './keys.js';
import type { Master } from './master.js';
import { asking, type MasterRouter } from './master-router.js';
import { parseRedirect } from './redirect.js';
import type { RedisMeta } from './redis-meta.js';
import { explain } from './server-error.js';

/**
 * Maximum number of redirects that an append follows. A slot can move again meanwhile; the next flush then retries the
 * append.
 */
const HOPS_MAX = 3;
const OK: AppendOutcome = { type: 'ok' };
const DUPLICATE: AppendOutcome = { type: 'duplicate' };
const NOTHING_THERE: Head = { lsn: { epoch: 0, sequence: 0 }, nonce: '0'.repeat(16), checksum: 0 };

const NEVER = () => false;

/** One outcome, as `walletd_append_2` replies: a word, and sometimes a value. */
type Reply = readonly [word: Buffer, value?: Buffer];

/** An append and its index in the flush. */
interface Placed {
  readonly append: Append;
  readonly at: number;
}

/** The outcome of an append on one master; undefined if the log's slot is on a different master. */
type Met = AppendOutcome | undefined;

/** Sends appends to their masters. */
export class RedisAppends {
  constructor(
    private readonly router: MasterRouter,
    private readonly keys: Keys,
    private readonly durability: Durability,
    private readonly meta: RedisMeta,
  ) {}

  async append(appends: readonly Append[], isLate: () => boolean = NEVER): Promise<readonly AppendOutcome[]> {
    const outcomes: AppendOutcome[] = [];
    let onTheWay: readonly Placed[] = appends.map((append, at) => ({ append, at }));
    for (let hop = 1; hop <= HOPS_MAX && onTheWay.length > 0; hop++) {
      const portions = await this.portions(onTheWay, outcomes);
      const met = await Promise.all([...portions].map(([master, portion]) => this.carry(master, portion, isLate)));
      const moved: Placed[] = [];
      for (const [one, outcome] of met.flat()) {
        if (outcome === undefined) moved.push(one);
        else outcomes[one.at] = outcome;
      }
      onTheWay = moved;
    }
    for (const { at } of onTheWay) outcomes[at] = failedBy(new Error('its slot of the Redis Cluster keeps moving'));
    return outcomes;
  }

  /** Sends one call that appends to all of these logs on one master, or to none of them. */
  async appendAll(master: Master, appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
    return await this.call(master, 'all', appends, NEVER);
  }

  /** Groups appends by master. An append whose master is unknown fails. */
  private async portions(all: readonly Placed[], outcomes: AppendOutcome[]): Promise<Map<Master, Placed[]>> {
    const portions = new Map<Master, Placed[]>();
    for (const one of all) {
      try {
        const master = await this.router.masters.of(one.append.shard);
        const portion = portions.get(master);
        if (portion === undefined) portions.set(master, [one]);
        else portion.push(one);
      } catch (error) {
        outcomes[one.at] = failedBy(error);
      }
    }
    return portions;
  }

  private async carry(
    master: Master,
    portion: readonly Placed[],
    isLate: () => boolean,
  ): Promise<readonly (readonly [Placed, Met])[]> {
    const { masters } = this.router;
    const appends = portion.map(({ append }) => append);
    try {
      const met = await (masters.isOne
        ? this.call(master, 'each', appends, isLate)
        : this.callEach(master, appends, isLate));
      return portion.map((one, i) => [one, met[i]]);
    } catch (error) {
      masters.doubt();
      // The outcome is unknown. A retry sends the same bytes, and its compare-and-set reveals whether they were written.
      const failed = failedBy(error);
      return portion.map((one) => [one, failed]);
    }
  }

  /** Sends one call for all appends. Resolves when the result is as durable as the settings require. */
  private async call(
    master: Master,
    mode: 'all' | 'each',
    appends: readonly Append[],
    isLate: () => boolean,
  ): Promise<AppendOutcome[]> {
    return await master.appends.use(async (client) => {
      if (isLate()) return appends.map(overdue);
      const sent = client.callBuffer('FCALL', this.argsOf(mode, appends)) as Promise<Reply[]>;
      const replies = await confirmed(client, this.durability, sent);
      return await this.checked(master, client, replies.map(outcomeOf));
    });
  }

  /** Sends one call per append, followed by a single wait, because one call cannot address logs in several slots. */
  private async callEach(master: Master, appends: readonly Append[], isLate: () => boolean): Promise<readonly Met[]> {
    return await master.appends.use(async (client) => {
      if (isLate()) return appends.map(overdue);
      const sent = Promise.allSettled(appends.map((append) => this.callOne(client, append)));
      const settled = await confirmed(client, this.durability, sent);
      const met: Met[] = [];
      for (const [i, result] of settled.entries()) {
        const append = appends[i] as Append;
        met.push(
          result.status === 'fulfilled' ? result.value : await this.redirected(result.reason, append, master, isLate),
        );
      }
      return await this.checked(master, client, met);
    });
  }

  private async callOne(client: Redis, append: Append): Promise<AppendOutcome> {
    const [reply] = (await client.callBuffer('FCALL', this.argsOf('each', [append]))) as Reply[];
    return outcomeOf(reply as Reply);
  }

  /**
   * Follows a redirect. Rejects if the error is not a redirect, because the outcome of everything else sent on that
   * connection is then unknown as well.
   */
  private async redirected(error: unknown, append: Append, by: Master, isLate: () => boolean): Promise<Met> {
    const redirect = parseRedirect(error);
    if (redirect === undefined) throw error;
    const other = this.router.masters.redirectTarget(redirect, by);
    if (redirect.type === 'moved') return undefined;
    if (other === undefined) return failedBy(error);
    return await other.appends
      .use(async (client) => {
        if (isLate()) return overdue();
        return await asking(client, () => confirmed(client, this.durability, this.callOne(client, append)));
      })
      .catch(failedBy);
  }

  /**
   * Checks the store after a conflict. If the whole store is gone or is being restored, the caller waits for its
   * return.
   */
  private async checked<T extends Met>(master: Master, client: Redis, met: T[]): Promise<T[]> {
    if (met.some((outcome) => outcome?.type === 'conflict')) await this.meta.checkStore(client, master);
    return met;
  }

  private argsOf(mode: 'all' | 'each', appends: readonly Append[]): (string | number | Buffer)[] {
    const args: (string | number | Buffer)[] = [APPEND.name, appends.length * 2];
    for (const { shard } of appends) args.push(this.keys.head(shard), this.keys.log(shard));
    args.push(mode, waitsFor(this.durability) > 0 ? 'confirm' : '');
    for (const { expected, entries } of appends) {
      const before = encodeHead(expected);
      const newest = entries.at(-1);
      args.push(before, newest === undefined ? before : encodeHead(newest.head), entries.length);
      for (const { head, bytes } of entries) args.push(formatLsn(head.lsn), bytes);
    }
    return args;
  }
}

function overdue(): AppendOutcome {
  return { type: 'failed', error: new OverdueError() };
}

function failedBy(error: unknown): AppendOutcome {
  return { type: 'failed', error: explain(error as Error) };
}

function outcomeOf([word, value]: Reply): AppendOutcome {
  switch (word.toString()) {
    case 'ok':
      return OK;
    case 'duplicate':
      return DUPLICATE;
    case 'conflict':
      return { type: 'conflict', head: value?.length === HEAD_LENGTH ? decodeHead(value) : NOTHING_THERE };
    default:
      return failedBy(new Error(value?.toString() ?? 'unknown answer'));
  }
}
