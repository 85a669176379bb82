import type { EventEmitter } from 'node:events';
import { SentinelConnector } from 'ioredis';

type Sentinels = new (options: object) => { connectToSentinel(endpoint: object, options?: object): EventEmitter };

/**
 * How ioredis reaches a master by way of its sentinels. It keeps connections to them that tell of failovers, lets nobody
 * listen to their errors, and prints those with their stacks, twice a second while one sentinel is down.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Sentinels) {
  override connectToSentinel(endpoint: object, options?: object): EventEmitter {
    return super.connectToSentinel(endpoint, options).on('error', () => {});
  }
}
