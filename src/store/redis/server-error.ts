import { OutageError } from '../../base/outage-error.js';
import { StoreFullError } from '../../base/store-full-error.js';

const FULL = /^OOM/;

/** Errors with which Redis refuses a command, and the remedy for each. */
const SENTENCES: readonly (readonly [beginning: RegExp, sentence: string])[] = [
  [FULL, 'Redis is at its memory limit and wrote nothing: raise maxmemory'],
  [/^READONLY/, 'this Redis has become a read-only replica and wrote nothing: waiting for the new master'],
  [/^MISCONF/, 'Redis cannot write to its disk and refuses writes: free up space or repair the disk'],
  [/^NOREPLICAS/, 'Redis has too few replicas (min-replicas-to-write) and wrote nothing: start more replicas'],
  [
    /^max number of clients reached/,
    'Redis has no free connections: raise maxclients, or disconnect clients (CLIENT LIST)',
  ],
  [/^LOADING/, 'Redis is loading its data: waiting for it'],
  [/^MASTERDOWN/, 'this Redis is a replica whose master is down: waiting for a master'],
  [/^BUSY/, 'another script keeps Redis busy: end it with SCRIPT KILL or FUNCTION KILL'],
  [/^(MOVED|ASK|CROSSSLOT)/, 'this Redis is part of a cluster: begin its address with redis+cluster://'],
  [/^(CLUSTERDOWN|TRYAGAIN)/, 'no node of the Redis Cluster currently serves this slot: waiting'],
  [/cluster support disabled/, 'this Redis is not a cluster: begin its address with redis://'],
  [
    /sentinels are unreachable.*NOAUTH/,
    'the sentinels require their own password: end WALLETD_STORE with ?sentinel=user:password, or ?sentinel=:password',
  ],
  [
    /sentinels are unreachable.*WRONGPASS/,
    'the sentinels do not accept the user or password after ?sentinel= in WALLETD_STORE',
  ],
  [
    /sentinels are unreachable.*(unknown command|Protocol error)/,
    'the server at the address of a sentinel is not a sentinel: redis+sentinel:// needs the ports of sentinels, not of Redis',
  ],
  [
    /sentinels are unreachable.*No such master/,
    'the sentinels know no master with the name at the end of WALLETD_STORE',
  ],
  [
    /certificate/,
    'the TLS certificate is refused: NODE_EXTRA_CA_CERTS must name the file of its CA, and the certificate this address',
  ],
  [/^All sentinels are unreachable/, 'no sentinel answers'],
  [/^Protocol error/, 'the server at this address is not Redis'],
  [/^NOAUTH/, 'Redis requires a password: add it to WALLETD_STORE'],
  [/^AUTH <password> called without any password/, 'this Redis has no password, but WALLETD_STORE has one'],
  [/^WRONGPASS/, 'Redis does not accept the user or password in WALLETD_STORE'],
  [
    /^(NOPERM|The user executing the script|ACL failure in script)/,
    'the ACL of this Redis user lacks a right that walletd needs; docs/redis.md lists all of them',
  ],
  [/^(Connection is closed|Stream isn't writeable|read ECONNRESET|write EPIPE)/, 'the connection to Redis was lost'],
  [/Function not found/, 'a walletd function is missing in Redis: it is loaded again at the next connection'],
];

/** Errors of a server that is down or not ready; a retry may succeed. */
const OUTAGE =
  /^((ERR )?max number of clients reached|LOADING|MASTERDOWN|BUSY|CLUSTERDOWN|TRYAGAIN|Connection is closed|Stream isn't writeable|Command timed out|connect E|read E|write E|getaddrinfo )/;
const SENTINELS_AWAY = /^All sentinels are unreachable/;
/** Errors that persist: the server is of the wrong kind, or refuses the credentials. */
const NOT_AWAY = /NOAUTH|WRONGPASS|NOPERM|unknown command|No such master|Protocol error|certificate/;

/**
 * Puts a human-readable sentence, if there is one, before the server's message. Returns an `OutageError` if a retry may
 * succeed, and a `StoreFullError` if it is out of memory.
 */
export function explain(error: Error): Error {
  const words = sentenceOf(error);
  if (OUTAGE.test(error.message) || (SENTINELS_AWAY.test(error.message) && !NOT_AWAY.test(error.message))) {
    return new OutageError(words?.message ?? error.message, { cause: error });
  }
  if (isFull(error)) return new StoreFullError(words?.message ?? error.message, { cause: error });
  return words ?? error;
}

/** True if the server has no memory left for this command. */
export function isFull({ message }: Error): boolean {
  return FULL.test(message);
}

function sentenceOf(error: Error): Error | undefined {
  const sentence = SENTENCES.find(([beginning]) => beginning.test(error.message.replace(/^ERR /, '')))?.[1];
  return sentence === undefined ? undefined : new Error(`${sentence} (${error.message})`, { cause: error });
}
