import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { RawLmdb } from './raw-lmdb.js';
import { RawRedis } from './raw-redis.js';
import type { RawStore } from './raw-store.js';
import { fault, type Scene } from './scene.js';

/** The store that walletd creates, with access to its bytes once it exists. */
export interface Place {
  readonly kind: 'LMDB' | 'Redis';
  /** The value of WALLETD_STORE. */
  readonly url: string;
  open(): RawStore;
  /** Removes the store's entire contents. */
  clear(): Promise<void>;
}

/**
 * Runs one fault on each kind of store. All of them run at the same time, since they spend most of their time waiting.
 */
export function faultOnEachStore(
  sentence: string,
  run: (scene: Scene, place: Place) => Promise<void>,
  timeoutMs?: number,
): void {
  describe(sentence, { concurrency: true }, () => {
    fault('on LMDB', (scene) => run(scene, makeLmdb(scene)), timeoutMs);
    fault('on Redis', async (scene) => run(scene, await makeRedis(scene)), timeoutMs);
  });
}

export function makeLmdb(scene: Scene): Place {
  const folder = join(scene.makeFolder(), 'store');
  let raw: RawLmdb | undefined;
  const clear = async () => {
    await raw?.close();
    raw = undefined;
    rmSync(folder, { recursive: true, force: true });
  };
  const open = () => {
    raw ??= new RawLmdb(folder);
    return raw;
  };
  scene.atEnd(clear);
  return { kind: 'LMDB', url: `lmdb:${folder}`, open, clear };
}

async function makeRedis(scene: Scene): Promise<Place> {
  const redis = await scene.redis();
  const clear = async () => void (await redis.call('FLUSHALL'));
  return { kind: 'Redis', url: redis.url, open: () => new RawRedis(redis), clear };
}
