import type { EventEmitter } from 'node:events';
import { SentinelConnector } from 'ioredis';

type Sentinels = new (options: object) => { connectToSentinel(endpoint: object, options?: object): EventEmitter };

/**
 * ioredis's connector to a master behind sentinels, without its log output. ioredis keeps connections to sentinels that
 * report failovers, and gives no access to their errors. It prints each error with its stack trace, twice a second
 * while a sentinel is down.
 */
export class QuietSentinels extends (SentinelConnector as unknown as Sentinels) {
  /** ioredis reports a refused certificate only as a timeout. */
  certificateError: Error | undefined = undefined;

  override connectToSentinel(endpoint: object, options?: object): EventEmitter {
    return super.connectToSentinel(endpoint, options).on('error', (error: Error) => {
      if (/certificate/.test(error.message)) this.certificateError = error;
    });
  }
}
