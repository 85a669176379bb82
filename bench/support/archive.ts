import { Client } from 'pg';
import { type Postgres, startPostgres } from '../../test/support/postgres.js';
import type { Store } from './store.js';

/**
 * Provides archive settings for walletd, with which closed rounds leave memory. A walletd on Redis gets a new database
 * each time.
 */
export class Archives {
  private databases = 0;
  private readonly postgres: Postgres | undefined;

  /**
   * `memorySeconds` is how long closed rounds stay in memory. If undefined, walletd's default applies, without
   * PostgreSQL.
   */
  constructor(
    store: Store,
    folder: string,
    private readonly memorySeconds: number | undefined,
  ) {
    const isOnRedis = store.redisUrl !== undefined;
    this.postgres = memorySeconds !== undefined && isOnRedis ? startPostgres(folder) : undefined;
  }

  async settings(): Promise<Readonly<Record<string, string>>> {
    if (this.memorySeconds === undefined) return {};
    const settings = { WALLETD_RETENTION_MEMORY_SECONDS: String(this.memorySeconds) };
    return this.postgres === undefined
      ? settings
      : { ...settings, WALLETD_ARCHIVE: await this.newDatabase(this.postgres) };
  }

  private async newDatabase({ url }: Postgres): Promise<string> {
    const name = `archive${++this.databases}`;
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE DATABASE ${name}`);
    await client.end();
    return url.replace('/postgres?', `/${name}?`);
  }
}
