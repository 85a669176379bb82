import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { silentLogger } from '../../src/base/logger.js';
import { newClusterShards, noteServed } from '../../src/cluster/cluster-shard.js';
import type { Lsn } from '../../src/ports/lsn.js';
import { ReplyColumns } from '../../src/threads/columns.js';
import type { FromWorker, ToWorker } from '../../src/threads/protocol.js';
import type { MoveResult, ShardStatus } from '../../src/threads/shards.js';
import { type PoolDeps, WorkerPool } from '../../src/threads/worker-pool.js';

/** A worker thread that carries out every move at once, or when the test lets it. */
class ObedientWorker extends EventEmitter {
  private readonly shards: ShardStatus[] = [statusOf(0, 'away'), statusOf(1, 'away')];
  /** Moves that wait for `goOn`; undefined if they do not wait. */
  private held: (() => void)[] | undefined = undefined;
  private isDead = false;

  opened(): void {
    this.send({ type: 'status', shards: this.shards, isMemoryFull: false, metrics: undefined });
    this.send({ type: 'shards-opened' });
  }

  postMessage(message: ToWorker): void {
    if (this.isDead || message.type !== 'move-shard') return;
    const { id, move } = message;
    const carryOut = () => {
      if (move.type !== 'confirm') this.set(move.shard, move.type === 'leave' ? 'away' : 'following');
      this.send({ type: 'status', shards: [...this.shards], isMemoryFull: false, metrics: undefined });
      this.send({ type: 'shard-moved', id, result: { type: 'done' } });
    };
    if (this.held === undefined) queueMicrotask(carryOut);
    else this.held.push(carryOut);
  }

  hold(): void {
    this.held = [];
  }

  goOn(): void {
    for (const carryOut of this.held ?? []) carryOut();
    this.held = undefined;
  }

  set(shard: number, state: ShardStatus['state']): void {
    this.shards[shard] = statusOf(shard, state);
  }

  terminate(): void {
    this.isDead = true;
    this.emit('exit', 1);
  }

  send(message: FromWorker): void {
    this.emit('message', message);
  }
}

/** A node of a cluster with two shards and two workers, both of which serve. */
class Scene {
  nowMs = 1000;
  /** The newest thread of each worker. */
  private readonly workers: ObedientWorker[] = [];
  readonly pool = new WorkerPool(2, 2, {
    clock: { now: () => this.nowMs, monotonicMs: () => this.nowMs },
    log: silentLogger,
    isShared: true,
    codec: {} as PoolDeps['codec'],
    onFenced: () => {},
    spawn: (worker) => {
      const thread = new ObedientWorker();
      this.workers[worker] = thread;
      return thread as unknown as Worker;
    },
  });

  static async start(): Promise<Scene> {
    const scene = new Scene();
    const started = scene.pool.start([]);
    for (const worker of scene.workers) worker.opened();
    await started;
    return scene;
  }

  async dies(worker: number): Promise<void> {
    this.workers[worker]?.terminate();
    await turn();
  }

  /** The worker unloads a shard that another node has fenced. */
  fenced(worker: number, shard: number): void {
    this.workers[worker]?.set(shard, 'away');
    const head = { lsn: { epoch: 9, sequence: 9 }, nonce: '0'.repeat(16), checksum: 0 };
    this.workers[worker]?.send({ type: 'fenced', shard, takenBy: 'another node', head });
  }

  hold(worker: number): void {
    this.workers[worker]?.hold();
  }

  goOn(worker: number): void {
    this.workers[worker]?.goOn();
  }

  acknowledges(worker: number, shard: number, lsn: Lsn): void {
    this.workers[worker]?.send({
      type: 'replies',
      replies: new ReplyColumns(),
      durable: [[shard, lsn]],
      readyMs: undefined,
    });
  }

  async comesBack(worker: number): Promise<void> {
    this.workers[worker]?.opened();
    await turn();
  }

  async follow(shard: number): Promise<MoveResult['type']> {
    return (await this.pool.move({ type: 'follow', shard })).type;
  }

  get states(): string[] {
    return this.pool.status().map(({ state }) => state);
  }
}

function statusOf(shard: number, state: ShardStatus['state']): ShardStatus {
  const none = { players: 0, waiting: 0, head: undefined, timeMs: 0, pendingAppendMs: 0, lacksNames: false };
  return { ...none, shard, state, reason: undefined };
}

test('no shard goes to a thread that has ended for good while another restarts', async () => {
  const scene = await Scene.start();
  await scene.dies(0);
  await scene.comesBack(0);
  scene.nowMs += 1000;
  await scene.dies(0);
  assert.deepEqual([await scene.follow(0), await scene.follow(1)], ['done', 'done']);

  scene.nowMs += 3_600_000;
  await scene.dies(1);
  assert.deepEqual([await scene.follow(0), scene.states], ['failed', ['away', 'away']]);
  await scene.comesBack(1);
  assert.deepEqual([await scene.follow(0), scene.states], ['done', ['following', 'away']]);
});

test('a node whose threads have all ended for good says so for every shard', async () => {
  const scene = await Scene.start();
  for (const worker of [0, 1]) {
    await scene.dies(worker);
    await scene.comesBack(worker);
    await scene.dies(worker);
  }
  assert.deepEqual([await scene.follow(0), scene.states], ['failed', ['stopped', 'stopped']]);
});

test('a cluster knows what a thread acknowledged just before it ended', async () => {
  const scene = await Scene.start();
  await scene.follow(1);
  scene.acknowledges(0, 1, { epoch: 4, sequence: 72 });
  const shards = newClusterShards(2, 0);
  noteServed(shards, scene.pool.status());
  assert.equal(shards[1]?.acknowledged, undefined, 'a living thread reports its head, which has a checksum');
  await scene.dies(0);
  noteServed(shards, scene.pool.status());
  assert.deepEqual(
    shards.map(({ acknowledged }) => acknowledged),
    [undefined, { lsn: { epoch: 4, sequence: 72 }, checksum: undefined }],
  );
});

test('a late answer of a thread keeps the shard in its new thread', async () => {
  const scene = await Scene.start();
  assert.equal(await scene.follow(0), 'done');
  scene.hold(0);
  const confirmed = scene.pool.move({ type: 'confirm', shard: 0 });
  scene.fenced(0, 0);
  const other = scene.pool.move({ type: 'follow', shard: 1 });
  assert.equal(await scene.follow(0), 'done', 'the other thread has fewer shards');
  assert.equal(scene.states[0], 'following');
  scene.goOn(0);
  await Promise.all([confirmed, other]);
  assert.deepEqual(scene.states, ['following', 'following']);
  scene.fenced(0, 0);
  await turn();
  assert.equal(scene.states[0], 'following');
});
