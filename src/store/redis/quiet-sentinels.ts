import type { EventEmitter } from 'node:events';
import { SentinelConnector } from 'ioredis';

type Sentinels = new (options: object) => { connectToSentinel(endpoint: object, options?: object): EventEmitter };

/**
 * How ioredis reaches a master by way of its sentinels, without its noise: it keeps connections to them that report
 * failovers, gives no access to their errors, and prints each with its stack, twice a second while a sentinel is down.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Sentinels) {
  override connectToSentinel(endpoint: object, options?: object): EventEmitter {
    return super.connectToSentinel(endpoint, options).on('error', () => {});
  }
}
