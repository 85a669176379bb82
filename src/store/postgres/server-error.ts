import { OutageError } from '../../base/outage-error.js';

interface Explained {
  /** PostgreSQL's SQLSTATE, or Node's error code. */
  readonly codes?: readonly string[];
  readonly words?: RegExp;
  readonly sentence: string;
}

const CERTIFICATE_CODES = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Errors that persist until an operator acts. */
const PERMANENT: readonly Explained[] = [
  {
    codes: ['28P01'],
    words: /password authentication failed|SASL authentication failed|no such user|client password must be a string/i,
    sentence: 'PostgreSQL does not accept the user or password in WALLETD_ARCHIVE',
  },
  {
    codes: ['28000'],
    sentence: 'PostgreSQL does not let this user in: correct WALLETD_ARCHIVE or pg_hba.conf',
  },
  {
    codes: ['3D000'],
    words: /no such database/,
    sentence: 'the database that WALLETD_ARCHIVE names does not exist: create it, or correct the name',
  },
  {
    codes: ['42501'],
    sentence: 'this PostgreSQL user lacks a right that walletd needs; docs/archive.md lists all of them',
  },
  {
    codes: CERTIFICATE_CODES,
    sentence:
      'the certificate of PostgreSQL is not from a CA that this machine trusts: add sslrootcert=FILE to WALLETD_ARCHIVE',
  },
  {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    sentence: 'the certificate of PostgreSQL is not valid for the host in WALLETD_ARCHIVE',
  },
  {
    words: /does not support SSL connections/,
    sentence: 'this PostgreSQL has no TLS: enable it there, or set sslmode=disable in WALLETD_ARCHIVE',
  },
  {
    words: /transaction blocks not allowed in statement pooling/i,
    sentence: 'this PgBouncer pools statements, but walletd needs whole transactions: set pool_mode = transaction',
  },
  {
    words: /unsupported startup parameter/i,
    sentence: 'this pooler refuses a startup parameter: remove options= from WALLETD_ARCHIVE',
  },
];

/** Error classes after which a retry may succeed. */
const AWAY: readonly string[] = ['08', '53', '57'];
const AWAY_WORDS =
  /^(connect |read |write |getaddrinfo |Connection terminated|timeout exceeded|Query read timeout|Client has encountered|server login|pgbouncer cannot connect|server conn crashed|query_wait_timeout|The database system)/i;

/**
 * Puts a human-readable sentence, if there is one, before the server's message. Returns an `OutageError` if a retry may
 * succeed. Leaves every other error unchanged.
 */
export function explain(thrown: unknown): Error {
  const error = first(thrown);
  const { code = '' } = error as { readonly code?: string };
  const known = PERMANENT.find(({ codes, words }) => codes?.includes(code) || words?.test(error.message));
  if (known !== undefined) return new Error(`${known.sentence} (${error.message})`, { cause: error });
  if (AWAY.includes(code.slice(0, 2)) || AWAY_WORDS.test(error.message)) {
    return new OutageError(error.message, { cause: error });
  }
  return error;
}

/**
 * Returns the first of several errors. Node tries each address of a host name and combines the errors into one that has
 * no message.
 */
function first(thrown: unknown): Error {
  if (thrown instanceof AggregateError && thrown.errors[0] instanceof Error) return thrown.errors[0];
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
