import { ServerRefused } from '../server-refused.js';
import type { CheckResult } from '../store.js';
import type { DurabilitySetting, ServerFacts } from './server-facts.js';

const MAJOR_MIN = 12;

interface Rule {
  readonly setting: DurabilitySetting;
  readonly wanted: readonly string[];
  readonly why: string;
  /** The statement that sets the required value. */
  readonly cure: string;
}

const RULES: readonly Rule[] = [
  {
    setting: 'fsync',
    wanted: ['on'],
    why: 'without it a power cut loses rounds that have left memory, or damages all of them',
    cure: 'ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();',
  },
  {
    setting: 'full_page_writes',
    wanted: ['on'],
    why: 'without it a power cut can tear a page in two',
    cure: 'ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();',
  },
  {
    setting: 'synchronous_commit',
    wanted: ['on', 'remote_apply'],
    why: 'a round leaves memory only once its commit is on the disk',
    cure: 'ALTER ROLE CURRENT_USER SET synchronous_commit = on;',
  },
];

const TRUST = 'or, if the storage makes this setting unnecessary, set WALLETD_POSTGRES_TRUST_CONFIG=true';

/** Checks of a server, for each new connection and for `walletd doctor`. If a check fails, the server is refused. */
export function judgeServer(facts: ServerFacts, trustConfig: boolean): readonly CheckResult[] {
  return [roleOf(facts), ...RULES.map((rule) => judge(rule, facts, trustConfig)), checksumsOf(facts)];
}

/** Throws a `ServerRefused` for the first check that failed. */
export function refuseServer(facts: ServerFacts, trustConfig: boolean): void {
  const bad = judgeServer(facts, trustConfig).find(({ verdict }) => verdict === 'bad');
  if (bad !== undefined) throw new ServerRefused(`${bad.says}; ${bad.todo}`);
}

function roleOf({ version, major, isStandby, isPooled }: ServerFacts): CheckResult {
  const about = 'archive server';
  if (major < MAJOR_MIN) {
    const todo = `upgrade it: walletd needs PostgreSQL ${MAJOR_MIN} or later`;
    return { about, verdict: 'bad', says: `PostgreSQL is version ${version}`, todo };
  }
  if (isStandby) {
    const todo = 'name the primary in WALLETD_ARCHIVE, or promote this one: SELECT pg_promote();';
    return { about, verdict: 'bad', says: 'this PostgreSQL is a read-only replica', todo };
  }
  const way = isPooled
    ? ', through a pooler: settings are sent with each transaction, and no statement is prepared'
    : '';
  return { about, verdict: 'good', says: `PostgreSQL ${version}, a primary${way}` };
}

/**
 * Checks that the server has page checksums. A server without them is not refused, because rounds are verified when
 * they are read: only a round that a search fails to find would go unnoticed.
 */
function checksumsOf({ hasChecksums }: ServerFacts): CheckResult {
  const about = 'archive checksums';
  if (hasChecksums) return { about, verdict: 'good', says: 'data_checksums is on' };
  const says =
    'data_checksums is off: a damaged index page can hide a round, and a repeat of that round would move money again';
  const todo = 'stop PostgreSQL and run pg_checksums --enable, unless its storage has checksums, as ZFS does';
  return { about, verdict: 'look', says, todo };
}

function judge({ setting, wanted, why, cure }: Rule, { settings }: ServerFacts, trustConfig: boolean): CheckResult {
  const about = 'archive durability';
  const value = settings[setting];
  const says = `${setting} is ${value}`;
  if (wanted.includes(value)) return { about, verdict: 'good', says };
  const wrong = `PostgreSQL has ${setting} ${value}, but it should be ${wanted[0]}: ${why}`;
  const todo = `set it with: ${cure}`;
  if (trustConfig) return { about, verdict: 'look', says: `${wrong}; WALLETD_POSTGRES_TRUST_CONFIG permits it`, todo };
  return { about, verdict: 'bad', says: wrong, todo: `${todo} ${TRUST}` };
}
