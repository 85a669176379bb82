import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { FeedEvent } from '../../src/feed/event.js';
import { assertBooks, ConsumerBooks, placeOf } from '../support/consumer-books.js';
import { FeedConsumer } from '../support/feed-consumer.js';
import { type LocalCluster, nameOf } from '../support/local-cluster.js';
import { until } from '../support/until.js';
import { NODES, onRedis, proveCluster } from './cluster-scene.js';
import { PLAYERS } from './load.js';
import { fault } from './scene.js';

fault('a consumer gets each event once by id although nodes are killed', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const consumer = new RovingConsumer(cluster, 1);
  await consumer.create(cluster.node(1).adminUrl);
  const load = await scene.load(cluster);
  const consuming = consumer.run();
  await until('the consumer reads events', () => consumer.books.count > PLAYERS.length);
  for (const [i, role] of [
    [0, 'owner of other shards'],
    [1, 'node that answers the consumer'],
  ] as const) {
    const owners = await cluster.owners();
    const shards = owners.flatMap((owner, shard) => (owner === nameOf(i) ? [shard] : []));
    const epochs = consumer.newestEpochs();
    // The feed of a node is loaded before its first request.
    const feedProcesses = await until('every node has a feed process', () => feedProcessesOf(cluster));
    const killedMs = performance.now();
    const sinceMs = () => Math.round(performance.now() - killedMs);
    await cluster.end(i, 'SIGKILL');
    const read = consumer.reads;
    await until('the consumer reads again', () => consumer.reads > read);
    const readMs = sinceMs();
    await until('it reads events of the new owners', () => {
      const newest = consumer.newestEpochs();
      return shards.every((shard) => (newest.get(shard) ?? 0) > (epochs.get(shard) ?? 0));
    });
    const answering = consumer.node;
    assert.ok(
      feedProcesses.get(answering) === feedProcessOf(cluster, answering),
      'no process was started for the read',
    );
    scene.say(`${role} killed: events after ${readMs} ms, and of all its shards after ${sinceMs()} ms`);
    await cluster.startNode(i);
    await cluster.settled();
  }
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
  consumer.stop();
  await consuming;
  const { adminUrl } = cluster.node(2);
  await until('the consumer has read everything', async () => (await consumer.step(adminUrl, 0)).length === 0);
  const requestIds = load.sent.map(({ body }) => body.id);
  await assertBooks(consumer.books, { players: PLAYERS, requestIds, adminUrl });
  scene.say(`${consumer.books.count} events, ${consumer.books.repeats} of them delivered again`);
});

/** Process ids by node; undefined while a node has no feed process. */
function feedProcessesOf(cluster: LocalCluster): ReadonlyMap<number, number> | undefined {
  const processes = new Map<number, number>();
  for (let i = 0; i < NODES; i++) {
    const pid = feedProcessOf(cluster, i);
    if (pid === undefined) return undefined;
    processes.set(i, pid);
  }
  return processes;
}

function feedProcessOf(cluster: LocalCluster, node: number): number | undefined {
  const { pid } = cluster.node(node);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('feed-program'));
  return found === undefined ? undefined : Number(found);
}

/** A consumer that knows the addresses of all nodes, and asks the next one whenever one fails. */
class RovingConsumer extends FeedConsumer {
  readonly books: ConsumerBooks;
  /** Number of pages with events. */
  reads = 0;
  /** The newest epoch of each shard from which an event has come. */
  private readonly epochs = new Map<number, number>();
  /** Index of the node that is asked next. */
  node: number;
  private isOver = false;

  constructor(
    private readonly cluster: LocalCluster,
    firstNode: number,
  ) {
    const books = new ConsumerBooks();
    super('crm', (event) => books.take(event));
    this.books = books;
    this.node = firstNode;
  }

  stop(): void {
    this.isOver = true;
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      const url = this.cluster.nodes[this.node]?.adminUrl;
      try {
        if (url === undefined) throw new Error('it does not run');
        await this.step(url, 1);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        this.node = (this.node + 1) % NODES;
      }
    }
  }

  override async step(adminUrl: string, waitSeconds: number): Promise<readonly FeedEvent[]> {
    const events = await super.step(adminUrl, waitSeconds);
    if (events.length > 0) this.reads++;
    for (const { id } of events) {
      const { shard, lsn } = placeOf(id);
      this.epochs.set(shard, Math.max(lsn.epoch, this.epochs.get(shard) ?? 0));
    }
    return events;
  }

  newestEpochs(): ReadonlyMap<number, number> {
    return new Map(this.epochs);
  }
}
