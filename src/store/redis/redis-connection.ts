import type { Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { messageOf } from '../../base/message-of.js';
import { QuietSentinels } from './quiet-sentinels.js';
import { parseRedirect } from './redirect.js';
import { explain } from './server-error.js';

type Connector = NonNullable<RedisOptions['Connector']>;

const CONNECT_TIMEOUT_MS = 2000;
const SENTINEL_RECONNECT_MS = 1000;

/**
 * Options that make ioredis a plain connection. It must not reconnect by itself, queue commands while offline, or send
 * a command twice. Any of these could make an old append arrive unnoticed after a newer one.
 */
const PLAIN: RedisOptions = {
  lazyConnect: true,
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
  sentinelReconnectStrategy: () => SENTINEL_RECONNECT_MS,
  // Let the sentinels end the connection after a failover, because the old master may keep answering for a while.
  failoverDetector: true,
  reconnectOnError: null,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  enableAutoPipelining: false,
  maxRetriesPerRequest: null,
  disableClientInfo: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
};

const GONE = /^Connection is closed|^Stream isn't writeable/;

/**
 * One connection at a time, opened on demand and checked before use. It is dropped after an error. The next use opens a
 * new connection, through the sentinels if there are any.
 */
export class RedisConnection {
  private current: Promise<Redis> | undefined = undefined;
  private connected: Redis | undefined = undefined;
  private isClosed = false;
  /** The stream that is corked until the end of this turn. */
  private corked: Redis['stream'] | undefined = undefined;

  constructor(
    private readonly options: RedisOptions,
    /** Rejects if this server must not be used. */
    private readonly check: (client: Redis) => Promise<void>,
    /** A command that takes longer counts as unanswered, and its outcome is unknown. */
    private readonly commandTimeoutMs: number,
  ) {}

  /** The current connection; undefined if there is none. */
  get currentClient(): Redis | undefined {
    return this.connected;
  }

  /** The address of the connected server as host:port; undefined if there is none. */
  get server(): string | undefined {
    const stream = this.connected?.stream as Socket | undefined;
    return stream?.remoteAddress === undefined ? undefined : `${stream.remoteAddress}:${stream.remotePort}`;
  }

  /** Connects if necessary. Rejects if there is no server, or the server must not be used. */
  client(): Promise<Redis> {
    if (this.isClosed) return Promise.reject(new Error('the store is closed'));
    if (this.current !== undefined) return this.current;
    const client = this.connect();
    this.current = client;
    client.then(
      (redis) => {
        if (this.current === client) this.connected = redis;
        redis.once('end', () => this.forget(client));
      },
      () => this.forget(client),
    );
    return client;
  }

  /** Drops the connection if `run` fails, unless the error is a redirect. The next connection is checked again. */
  async use<T>(run: (client: Redis) => Promise<T>): Promise<T> {
    const client = await this.client();
    this.writeTogether(client);
    try {
      return await run(client);
    } catch (error) {
      if (parseRedirect(error) !== undefined) throw error;
      this.drop(client);
      throw explain(error as Error);
    }
  }

  /** Drops the connection. Commands without an answer have an unknown outcome. */
  drop(redis: Redis): void {
    if (this.connected === redis) this.reset();
    redis.disconnect();
  }

  /** Makes the next use open a new connection. */
  reset(): void {
    this.current?.then(
      (redis) => redis.disconnect(),
      () => {},
    );
    this.current = undefined;
    this.connected = undefined;
  }

  close(): void {
    this.isClosed = true;
    this.reset();
  }

  /**
   * Sends all commands of a turn in one write. On a busy thread, writes account for a large part of the cost of a call.
   */
  private writeTogether({ stream }: Redis): void {
    if (this.corked === stream) return;
    this.corked = stream;
    stream.cork();
    process.nextTick(() => {
      this.corked = undefined;
      stream.uncork();
    });
  }

  private forget(client: Promise<Redis>): void {
    if (this.current !== client) return;
    this.current = undefined;
    this.connected = undefined;
  }

  private async connect(): Promise<Redis> {
    const { commandTimeoutMs: commandTimeout } = this;
    const { username, password, db, ...options } = this.options;
    const connector = options.sentinels === undefined ? {} : { Connector: QuietSentinels as unknown as Connector };
    const redis = new Redis({ ...options, ...PLAIN, ...connector, commandTimeout });
    // When the connection fails, ioredis often rejects with only "Connection is closed." The preceding `error` event
    // names the cause.
    let cause: Error | undefined;
    redis.on('error', (error: Error) => {
      cause = error;
    });
    try {
      await redis.connect();
      // ioredis must not log in by itself: if its AUTH is refused, it continues as the user `default`, and the
      // resulting errors hide the reason.
      if (password !== undefined)
        await (username === undefined ? redis.auth(password) : redis.auth(username, password));
      // ioredis must not select the database either: after a refused SELECT, it continues in database 0.
      if (db) await redis.select(db);
      await this.check(redis);
      return redis;
    } catch (error) {
      redis.disconnect();
      const { certificateError } = (redis as unknown as { connector: Partial<QuietSentinels> }).connector;
      if (certificateError !== undefined) throw explain(certificateError);
      throw explain(GONE.test(messageOf(error)) && cause !== undefined ? cause : (error as Error));
    }
  }
}
