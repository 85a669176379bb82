import { RedisServer } from './redis-server.js';
import { TestNode } from './test-node.js';

/**
 * Maximum number of attempts to start. A start has only two seconds to connect, and a busy machine may stall for
 * longer.
 */
const STARTS_MAX = 3;
const HAS_STALLED = /connect ETIMEDOUT/;

/** Several complete nodes in this process that share a store on their own Redis. */
export class TestCluster {
  private constructor(
    readonly redis: RedisServer,
    readonly nodes: TestNode[],
    private readonly changes: Readonly<Record<string, unknown>>,
  ) {}

  /** Starts nodes named node-0, node-1, and so on. */
  static async start(count: number, changes: Readonly<Record<string, unknown>> = {}): Promise<TestCluster> {
    const redis = await RedisServer.start();
    const cluster = new TestCluster(redis, [], { 'cluster.expect': count, ...changes });
    try {
      await Promise.all(Array.from({ length: count }, (_, i) => cluster.add(i)));
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  async add(i: number, changes: Readonly<Record<string, unknown>> = {}): Promise<TestNode> {
    const node = await started({ ...this.settings(i), ...changes });
    this.nodes[i] = node;
    return node;
  }

  /** Settings of one node. */
  settings(i: number): Record<string, unknown> {
    return {
      store: this.redis.url,
      init: 'auto',
      'cluster.port': 0,
      'cluster.name': `node-${i}`,
      'cluster.drainSeconds': 1,
      ...this.changes,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.close()));
    await this.redis.destroy();
  }
}

async function started(settings: Record<string, unknown>): Promise<TestNode> {
  for (let n = 1; ; n++) {
    try {
      return await TestNode.start(settings);
    } catch (error) {
      if (n === STARTS_MAX || !HAS_STALLED.test(String(error))) throw error;
    }
  }
}
