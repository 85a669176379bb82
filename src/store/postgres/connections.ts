import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { PostgresAddress } from './postgres-address.js';
import { refuseServer } from './server-check.js';
import { explain } from './server-error.js';
import { begin, introduce, type ServerFacts, STATEMENT_MS } from './server-facts.js';

const CONNECTIONS = 2;
const CONNECT_MS = 5000;
/** Maximum age of a connection. The server is checked on each new connection, and therefore at least this often. */
const LIFETIME_SECONDS = 60;

export interface ConnectionsOptions {
  /** True if the server's durability settings are not checked. */
  readonly trustConfig: boolean;
  /** True if nothing is written. A replica and any settings are then acceptable. */
  readonly isReadOnly: boolean;
}

/** A separate connection, used for work that may wait for locks. */
export interface Alone {
  readonly client: ClientBase;
  readonly server: ServerFacts;
  /** Runs in one transaction, with walletd's settings in force. */
  inTransaction<T>(run: (client: ClientBase) => Promise<T>): Promise<T>;
}

/**
 * Connections to one PostgreSQL server, opened on demand. Each new connection is checked before its first use. Behind a
 * pooler every transaction is checked, because the pooler may have switched to a different server.
 */
export class Connections {
  private readonly pool: Pool;
  private readonly config: ClientConfig;
  /** Connections that were found to go through a pooler. */
  private readonly pooled = new WeakSet<ClientBase>();

  constructor(
    { login }: PostgresAddress,
    private readonly options: ConnectionsOptions,
  ) {
    this.config = { ...login, connectionTimeoutMillis: CONNECT_MS, query_timeout: STATEMENT_MS, keepAlive: true };
    this.pool = new Pool({
      ...this.config,
      max: CONNECTIONS,
      maxLifetimeSeconds: LIFETIME_SECONDS,
      onConnect: (client) => this.check(client),
    });
    // Ignore errors of idle connections, because the pool replaces such a connection.
    this.pool.on('error', ignored);
  }

  /** Runs one statement; `name` is the name of its prepared form. */
  async ask<R>(name: string, text: string, values: readonly unknown[]): Promise<R[]> {
    return await this.use(async (client) => {
      if (this.pooled.has(client)) return await this.transaction(client, () => rowsOf<R>(client, { text, values }));
      return await rowsOf<R>(client, { name: `walletd ${name}`, text, values });
    });
  }

  async inTransaction<T>(run: (client: ClientBase) => Promise<T>): Promise<T> {
    return await this.use((client) => this.transaction(client, run));
  }

  /**
   * Opens a separate connection for `run`, and closes it afterwards. Does not refuse any server, because `run` inspects
   * the server's state.
   */
  async alone<T>(run: (alone: Alone) => Promise<T>): Promise<T> {
    const client = new Client(this.config);
    client.on('error', ignored);
    try {
      await client.connect();
      const server = await introduce(client);
      if (server.isPooled) this.pooled.add(client);
      const inTransaction = async <R>(work: (client: ClientBase) => Promise<R>) => {
        try {
          return await this.transaction(client, work);
        } catch (error) {
          // Roll back, because the next transaction uses the same connection.
          await client.query('ROLLBACK').catch(ignored);
          throw error;
        }
      };
      return await run({ client, server, inTransaction });
    } catch (error) {
      throw explain(error);
    } finally {
      await client.end().catch(ignored);
    }
  }

  /** Throws a `ServerRefused` if walletd must not rely on the server. */
  refuse(server: ServerFacts): void {
    if (!this.options.isReadOnly) refuseServer(server, this.options.trustConfig);
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async check(client: ClientBase): Promise<void> {
    const server = await introduce(client);
    if (server.isPooled) this.pooled.add(client);
    this.refuse(server);
  }

  private async use<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.pool.connect();
      // A connection that breaks also emits an event. Without a listener, that event would end the process.
      client.on('error', ignored);
      const result = await run(client);
      client.off('error', ignored);
      client.release();
      return result;
    } catch (error) {
      client?.off('error', ignored);
      // Close the connection, because its state is unknown.
      client?.release(true);
      throw explain(error);
    }
  }

  private async transaction<T>(client: ClientBase, run: (client: ClientBase) => Promise<T>): Promise<T> {
    if (this.pooled.has(client)) this.refuse(await begin(client));
    else await client.query('BEGIN');
    const result = await run(client);
    await client.query('COMMIT');
    return result;
  }
}

async function rowsOf<R>(
  client: ClientBase,
  { values, ...statement }: { readonly name?: string; readonly text: string; readonly values: readonly unknown[] },
): Promise<R[]> {
  const { rows } = await client.query({ ...statement, values: [...values] });
  return rows as R[];
}

function ignored(): void {}
