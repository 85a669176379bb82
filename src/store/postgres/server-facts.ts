import type { ClientBase, QueryResult } from 'pg';

/** The state of a server and of the session with it, as the server reports it. */
export interface ServerFacts {
  /** `server_version`, for messages. */
  readonly version: string;
  readonly major: number;
  /** True on a replica, which replays another server's log. */
  readonly isStandby: boolean;
  /** True behind PgBouncer or a similar pooler: two transactions of one connection may run in different sessions. */
  readonly isPooled: boolean;
  /** The value in force for walletd's transactions, by setting. */
  readonly settings: Readonly<Record<DurabilitySetting, string>>;
  /** True if the server verifies page checksums when it reads pages: `data_checksums`. */
  readonly hasChecksums: boolean;
}

export const DURABILITY_SETTINGS = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;
export type DurabilitySetting = (typeof DURABILITY_SETTINGS)[number];

/** Timeout of a statement, both on the server and in the client. */
export const STATEMENT_MS = 10_000;
/** Maximum time that a statement which creates or drops tables waits for a lock. */
export const LOCK_MS = 1000;

/** Keeps `remote_apply`, which waits for more than `on` does. Replaces every weaker value with `on`. */
const COMMIT = "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END";

const FACTS = `
  SELECT pg_backend_pid() AS pid, pg_is_in_recovery() AS standby, current_setting('server_version') AS version,
    current_setting('server_version_num')::int / 10000 AS major, current_setting('data_checksums') AS checksums,
    ${DURABILITY_SETTINGS.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`;

type FactsRow = Readonly<Record<DurabilitySetting | 'version' | 'checksums', string>> & {
  readonly pid: number;
  readonly standby: boolean;
  readonly major: number;
};

/** Sets the settings as statements, because a pooler would drop or refuse startup options. */
function setting(scope: 'session' | 'transaction'): string {
  const isLocal = scope === 'transaction';
  return `SELECT set_config('synchronous_commit', ${COMMIT}, ${isLocal}),
    set_config('statement_timeout', '${STATEMENT_MS}', ${isLocal})`;
}

/**
 * Prepares a new connection and reads the settings in force. A dedicated session gets the settings once. A pooled
 * session gets them in each transaction: through `begin`, and here in a separate transaction.
 */
export async function introduce(client: ClientBase): Promise<ServerFacts> {
  const pid = (await ask(client, FACTS)).pid;
  const isPooled = (client as ClientBase & { readonly processID: number | null }).processID !== pid;
  if (!isPooled) return factsOf(await ask(client, `${setting('session')};${FACTS}`), false);
  const facts = await begin(client);
  await client.query('COMMIT');
  return facts;
}

/** Begins a transaction with walletd's settings on a pooled connection, and reads the settings in force. */
export async function begin(client: ClientBase): Promise<ServerFacts> {
  return factsOf(await ask(client, `BEGIN;${setting('transaction')};${FACTS}`), true);
}

/** The first row of the last of several statements. */
async function ask(client: ClientBase, sql: string): Promise<FactsRow> {
  const answer = (await client.query(sql)) as QueryResult | readonly QueryResult[];
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  return last.rows[0] as FactsRow;
}

function factsOf({ standby, version, major, checksums, ...settings }: FactsRow, isPooled: boolean): ServerFacts {
  return { version, major, isStandby: standby, isPooled, settings, hasChecksums: checksums === 'on' };
}
