import type { EventEmitter } from 'node:events';
import { SentinelConnector } from 'ioredis';

type Sentinels = new (options: object) => { connectToSentinel(endpoint: object, options?: object): EventEmitter };

/**
 * Connector of ioredis to a master behind sentinels, without its noise. ioredis keeps connections to sentinels that
 * report failovers and gives no access to their errors. It prints each error with its stack, twice a second while a
 * sentinel is down.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Sentinels) {
  override connectToSentinel(endpoint: object, options?: object): EventEmitter {
    return super.connectToSentinel(endpoint, options).on('error', () => {});
  }
}
