import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Head } from '../../ports/wal.js';
import { encodeHead, genesisHead } from '../format/entry-codec.js';
import { FormatError } from '../format/format-error.js';
import { decodeAnyMeta, decodeMeta, encodeMeta, type StoreMeta, withArchive } from '../meta.js';
import { ServerRefused } from '../server-refused.js';
import type { MetaStore } from '../store.js';
import { confirmed, type Durability } from './durability.js';
import { META, withFunction } from './functions.js';
import type { Keys } from './keys.js';
import type { Master } from './master.js';
import type { MasterRouter } from './master-router.js';
import type { Masters } from './masters.js';
import { parseRedirect } from './redirect.js';
import { hiddenSettings } from './server-check.js';

/** Number of random bytes in the names of test keys. */
const TRIAL_BYTES = 4;

/** Meta record as it is stored. */
interface StoredMeta extends StoreMeta {
  /** Names of the masters behind sentinels, if there are several. Their order determines which master holds a shard. */
  readonly masters?: readonly string[];
  /** True while the heads are being written. If that process dies, another process continues with the same record. */
  readonly isBeingCreated?: true;
}

/** Access to a store's meta record in Redis, and the check that the store is still there. */
export class RedisMeta implements MetaStore {
  /**
   * The store that this process has read or created; undefined before. Every later connection must find the same store.
   */
  private known: StoreMeta | undefined = undefined;

  constructor(
    private readonly router: MasterRouter,
    private readonly keys: Keys,
    private readonly durability: Durability,
    /** The human-readable address of the store. */
    private readonly address: string,
    /** Names of the masters, as in the meta record. */
    private readonly names: readonly string[],
  ) {}

  private get masters(): Masters {
    return this.router.masters;
  }

  /** Also throws if the server cannot be reached or must not be used. */
  async tryRead(): Promise<StoreMeta | undefined> {
    this.known = await this.peek();
    return this.known;
  }

  async peek(): Promise<StoreMeta | undefined> {
    const bytes = await this.router.onHome((client) => client.getBuffer(this.keys.meta));
    return bytes === null ? undefined : this.tryDecode(bytes);
  }

  async create(meta: StoreMeta): Promise<boolean> {
    for (const master of await this.masters.all()) {
      await master.appends.use(async () => {});
      if (master.unseen.length > 0) throw hiddenSettings(`not allowed to CONFIG GET ${master.unseen.join(', ')}`);
    }
    return this.masters.isOne ? await this.createAtOnce(meta) : await this.createInSteps(meta);
  }

  async complete(meta: StoreMeta): Promise<void> {
    const bytes = this.encoded(meta);
    await this.router.onHome((client) => confirmed(client, this.durability, client.set(this.keys.meta, bytes)));
  }

  async replaceArchive(expected: string | undefined, archiveId: string | undefined): Promise<StoreMeta> {
    for (;;) {
      const before = await this.router.onHome((client) => client.getBuffer(this.keys.meta));
      const meta = before === null ? undefined : this.tryDecode(before);
      if (before === null || meta === undefined) throw new FormatError('the store has no meta record');
      // Write the record again even if it already has the new archiveId: a replica may not have confirmed the earlier
      // attempt.
      if (meta.archiveId !== expected && meta.archiveId !== archiveId) return meta;
      const replaced = withArchive(meta, archiveId);
      const after = this.encoded(replaced);
      const isDone = await this.router.onHome((client) =>
        withFunction(client, META, (loaded) =>
          confirmed(loaded, this.durability, loaded.call('FCALL', META.name, 1, this.keys.meta, before, after)),
        ),
      );
      if (isDone === 1) return replaced;
    }
  }

  async discard(meta: StoreMeta, heads: readonly Head[]): Promise<boolean> {
    const removed = this.masters.isOne ? await this.discardAtOnce(meta, heads) : await this.discardInSteps(meta, heads);
    if (removed) this.known = undefined;
    return removed;
  }

  async checkDiscard(shards: number): Promise<void> {
    const id = randomBytes(TRIAL_BYTES).toString('hex');
    for (let shard = 0; shard < (this.masters.isOne ? 1 : shards); shard++) {
      const { stream, head } = this.keys.trial(shard, id);
      await this.router.onShard(shard, 'appends', async (client) => {
        if (!this.masters.isOne) return await client.del(head, stream);
        await client.watch(head, stream);
        await client.mgetBuffer(head);
        return await client.multi().del(head, stream).exec();
      });
    }
  }

  /**
   * Throws if another server has taken over this address and that server has no store, a different store, or this store
   * during a restore. Lost entries may be appended again only after the restore is complete.
   */
  async checkStore(client: Redis, master: Master): Promise<void> {
    const { known, masters } = this;
    if (known === undefined) return;
    if (masters.isOne || (await masters.home()) === master) await this.checkMeta(client, known);
    if (masters.isOne) return;
    await this.checkHeads(client, master, known.storeId);
    if ((await masters.home()) !== master) await this.checkHome(known);
  }

  /** Shards by master, for a store that has been read or created. Without a store, the home has the first shard. */
  async shardsByMaster(): Promise<Map<Master, number[]>> {
    const byMaster = new Map<Master, number[]>();
    for (let shard = 0; shard < (this.known?.shards ?? 1); shard++) {
      const master = await this.masters.of(shard);
      const shards = byMaster.get(master);
      if (shards === undefined) byMaster.set(master, [shard]);
      else shards.push(shard);
    }
    return byMaster;
  }

  /** Decodes the record; undefined while the store is being created. */
  private tryDecode(bytes: Buffer): StoreMeta | undefined {
    const found = decodeAnyMeta(bytes) as StoredMeta;
    if (found.isBeingCreated) return undefined;
    this.checkNames(found);
    const { masters: _masters, ...meta } = decodeMeta(bytes) as StoredMeta;
    return meta;
  }

  private async checkMeta(client: Redis, { storeId, incomplete: isRestorer }: StoreMeta): Promise<void> {
    const bytes = await client.getBuffer(this.keys.meta);
    if (bytes === null) throw this.gone(this.address, storeId);
    const found = decodeAnyMeta(bytes);
    if (found.storeId !== storeId) {
      throw new ServerRefused(`Redis at ${this.address} has a different store: ${found.storeId}, not ${storeId}`);
    }
    if (found.incomplete && !isRestorer) {
      throw new ServerRefused(
        `the store ${storeId} in Redis at ${this.address} is being restored; nothing is written until the restore is complete`,
      );
    }
  }

  /**
   * Checks that the home still has the store. If the home is unavailable, the check passes, because that proves nothing
   * about the other masters.
   */
  private async checkHome(known: StoreMeta): Promise<void> {
    const home = await this.masters.home();
    await home.appends
      .use((client) => this.checkMeta(client, known))
      .catch((error: unknown) => {
        if (error instanceof ServerRefused) throw error;
      });
  }

  /**
   * Checks that this master still has heads. A master without any of its heads has lost its data and come back empty.
   */
  private async checkHeads(client: Redis, master: Master, storeId: string): Promise<void> {
    const mine = (await this.shardsByMaster()).get(master) ?? [];
    const found = await Promise.all(mine.map((shard) => hasKey(client, this.keys.head(shard))));
    if (mine.length > 0 && !found.includes(true)) throw this.gone(master.name, storeId);
  }

  private gone(where: string, storeId: string): ServerRefused {
    return new ServerRefused(
      `Redis at ${where} is empty: the store ${storeId} is gone; nothing is written until the store is back`,
    );
  }

  private async createAtOnce(meta: StoreMeta): Promise<boolean> {
    const pairs: (string | Buffer)[] = [this.keys.meta, this.encoded(meta)];
    for (let shard = 0; shard < meta.shards; shard++) {
      pairs.push(this.keys.head(shard), encodeHead(genesisHead(meta.storeId, shard)));
    }
    const created = await this.router.onHome((client) =>
      confirmed(client, this.durability, client.call('MSETNX', ...pairs)),
    );
    if (created === 1) this.known = meta;
    return created === 1;
  }

  /**
   * Creates a store in several calls, because one call cannot write to several slots. If another process finds the
   * record incomplete, it writes the same heads.
   */
  private async createInSteps(meta: StoreMeta): Promise<boolean> {
    const { keys, durability } = this;
    const begun = this.encoded(meta.incomplete ? meta : { ...meta, isBeingCreated: true });
    const wasSet = await this.router.onHome((client) =>
      confirmed(client, durability, client.set(keys.meta, begun, 'NX')),
    );
    const record = wasSet === null ? await this.findBegun() : meta;
    if (record === undefined) return false;
    for (let shard = 0; shard < record.shards; shard++) {
      const head = encodeHead(genesisHead(record.storeId, shard));
      await this.router.onShard(shard, 'appends', (client) =>
        confirmed(client, durability, client.set(keys.head(shard), head, 'NX')),
      );
    }
    if (!record.incomplete) await this.complete(record);
    this.known = record;
    return true;
  }

  /** Finds the record of a creation that another process has begun. */
  private async findBegun(): Promise<StoreMeta | undefined> {
    const bytes = await this.router.onHome((client) => client.getBuffer(this.keys.meta));
    if (bytes === null) return undefined;
    const { isBeingCreated, masters: _masters, ...meta } = decodeAnyMeta(bytes) as StoredMeta;
    return isBeingCreated ? meta : undefined;
  }

  private async discardAtOnce(meta: StoreMeta, heads: readonly Head[]): Promise<boolean> {
    const { durability, keys } = this;
    const all = [keys.meta, ...heads.flatMap((_, shard) => [keys.head(shard), keys.log(shard)])];
    return await this.router.onHome(async (client) => {
      await client.watch(...all);
      const found = await client.mgetBuffer(heads.map((_, shard) => keys.head(shard)));
      const stored = await client.getBuffer(keys.meta);
      const isSame = heads.every((head, shard) => found[shard]?.equals(encodeHead(head)));
      if (!isSame || stored === null || decodeMeta(stored).storeId !== meta.storeId) {
        await client.unwatch();
        return false;
      }
      return (await confirmed(client, durability, client.multi().del(all).exec())) !== null;
    });
  }

  /**
   * Discards a store in several calls. Marks it incomplete first, so that no process can start on the remains of the
   * store.
   */
  private async discardInSteps(meta: StoreMeta, heads: readonly Head[]): Promise<boolean> {
    const { durability, keys, router } = this;
    this.known = { ...meta, incomplete: true };
    await this.complete(this.known);
    for (const [shard, head] of heads.entries()) {
      const found = await router.onShard(shard, 'appends', (client) => client.getBuffer(keys.head(shard)));
      if (found?.equals(encodeHead(head))) continue;
      await this.complete(meta);
      this.known = meta;
      return false;
    }
    for (const shard of heads.keys()) {
      await router.onShard(shard, 'appends', (client) =>
        confirmed(client, durability, client.del(keys.head(shard), keys.log(shard))),
      );
    }
    await router.onHome((client) => confirmed(client, durability, client.del(keys.meta)));
    return true;
  }

  private encoded(meta: StoredMeta): Buffer {
    return encodeMeta(this.names.length > 1 ? ({ ...meta, masters: this.names } as StoreMeta) : meta);
  }

  private checkNames({ masters = [] }: StoredMeta): void {
    const then = masters.join(',');
    const now = this.names.length > 1 ? this.names.join(',') : '';
    if (then === now) return;
    throw new ServerRefused(
      `the store was created over ${then === '' ? 'one master' : `the masters ${then}`}, and WALLETD_STORE names ` +
        `${now === '' ? 'one' : now}: their order determines which of them has a shard`,
    );
  }
}

/** Returns false if the key does not exist or is not on this server. */
async function hasKey(client: Redis, key: string): Promise<boolean> {
  try {
    return (await client.getBuffer(key)) !== null;
  } catch (error) {
    if (parseRedirect(error) === undefined) throw error;
    return false;
  }
}
