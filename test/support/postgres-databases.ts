import { execFileSync } from 'node:child_process';
import { Client } from 'pg';
import type { Postgres } from './postgres.js';

/** Creates databases on a server that tests share. */
export class PostgresDatabases {
  private count = 0;

  constructor(private readonly server: Postgres) {}

  /** The folder that contains the server's socket. */
  get socketFolder(): string {
    return new URL(this.server.url).searchParams.get('host') as string;
  }

  /** Creates an empty database; resolves to its name. */
  async create(): Promise<string> {
    const name = `test${this.count++}`;
    await runSql(this.server.url, `CREATE DATABASE ${name}`);
    return name;
  }

  url(name: string, user = 'postgres'): string {
    return `postgres://${user}@localhost/${name}?host=${encodeURIComponent(this.socketFolder)}`;
  }
}

/** Runs each statement separately on a new connection. Returns the rows of the last one. */
export async function runSql(url: string, ...statements: readonly string[]): Promise<readonly object[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly object[] = [];
    for (const sql of statements) rows = (await client.query(sql)).rows as object[];
    return rows;
  } finally {
    await client.end();
  }
}

/** Copies a database into an empty one with pg_dump and psql, as an operator would when moving it. */
export function copyDatabase(from: string, to: string): void {
  const dump = execFileSync('pg_dump', ['--dbname', from], { maxBuffer: 2 ** 28 });
  execFileSync('psql', ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--dbname', to], { input: dump });
}
