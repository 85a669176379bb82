import { appendFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { atEnd } from './clean-up.js';
import { makeOwnFolder, type Postgres, runProgram } from './postgres.js';
import { runSql } from './postgres-databases.js';
import { until } from './until.js';

/** The socket of a PostgreSQL that listens in its own folder. */
export function socketOf({ url }: Pick<Postgres, 'url'>): string {
  return `${folderOf(url)}/.s.PGSQL.5432`;
}

/** A real asynchronous PostgreSQL replica that streams the primary's commits. */
export class PostgresStandby {
  private constructor(
    private readonly folder: string,
    private readonly primary: Pick<Postgres, 'url'>,
  ) {}

  /** Copies the primary and follows it. The clean-up task stops the replica. */
  static start(primary: Pick<Postgres, 'url'>): PostgresStandby {
    const folder = makeOwnFolder(tmpdir());
    const data = `${folder}/data`;
    const from = [`--host=${folderOf(primary.url)}`, '--username=postgres', '--checkpoint=fast'];
    runProgram(folder, 'pg_basebackup', ...from, `--pgdata=${data}`, '--write-recovery-conf');
    appendFileSync(`${data}/postgresql.conf`, `unix_socket_directories = '${folder}'\n`);
    runProgram(folder, 'pg_ctl', 'start', '--wait', `--pgdata=${data}`, `--log=${folder}/log`);
    atEnd(() => void runProgram(folder, 'pg_ctl', 'stop', '--wait', '--mode=immediate', `--pgdata=${data}`));
    return new PostgresStandby(folder, primary);
  }

  get url(): string {
    return `postgres://postgres@localhost/postgres?host=${encodeURIComponent(this.folder)}`;
  }

  /** Resolves when the replica has replayed all commits that the primary had when this was called. */
  async inStep(): Promise<void> {
    const [{ lsn }] = (await runSql(this.primary.url, 'SELECT pg_current_wal_lsn()::text AS lsn')) as [{ lsn: string }];
    await until('the replica is in step', async () => {
      const sql = `SELECT pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn AS is_done`;
      const [row] = (await runSql(this.url, sql)) as [{ is_done: boolean }];
      return row.is_done;
    });
  }

  /** Makes the replica stop receiving from the primary. */
  async stopReceiving(): Promise<void> {
    await runSql(this.url, "ALTER SYSTEM SET primary_conninfo = ''", 'SELECT pg_reload_conf()');
    await until('the replica receives nothing', async () => {
      return (await runSql(this.url, 'SELECT pid FROM pg_stat_wal_receiver')).length === 0;
    });
  }

  /** Promotes the replica to primary. */
  promote(): void {
    runProgram(this.folder, 'pg_ctl', 'promote', '--wait', `--pgdata=${this.folder}/data`);
  }
}

function folderOf(url: string): string {
  return new URL(url).searchParams.get('host') ?? '';
}
