import { randomBytes } from 'node:crypto';
import { must } from '../../src/base/assert.js';
import { bearer, type Contestant } from '../support/servers.js';

/** A walletd that is already running, and its credentials. */
export interface Target {
  /** The callback URL. */
  readonly url: string;
  readonly operatorApi: string;
  /** The operator API token. */
  readonly token: string | undefined;
  /** Undefined if callbacks are not signed. */
  readonly signingSecret: string | undefined;
}

/** The prefix of the bench's player names, because the target has its own players and those of earlier benches. */
export const TARGET_PLAYERS = `bench-${randomBytes(4).toString('hex')}-`;

const RESIDENT = /^process_resident_memory_bytes (\S+)$/m;
const CPU_SECONDS = /^process_cpu_seconds_total (\S+)$/m;

/**
 * The target at these addresses, with secrets from walletd's environment variables. Throws a user error if an address
 * is missing or unusable.
 */
export function targetOf(
  { target, operatorApi }: { readonly target: string; readonly operatorApi?: string },
  env: Readonly<Record<string, string | undefined>>,
): Target {
  if (operatorApi === undefined) throw new Error('--target needs --operator-api, where its players are created');
  // The generator writes to plain sockets, because TLS would cost the generator more than a request costs the server.
  for (const url of [target, operatorApi]) {
    if (!/^http:\/\/[^/@]+$/.test(url)) throw new Error(`${url} is not an address such as http://127.0.0.1:3000`);
  }
  const [key] = (env.WALLETD_SIGNATURE_KEYS ?? '').split(/\s+/);
  return {
    url: target,
    operatorApi,
    token: env.WALLETD_ADMIN_TOKEN,
    signingSecret: key === '' ? undefined : must(key, 'it is there').replace(/^[^:]*:/, ''),
  };
}

export function onTarget({ url, operatorApi: adminUrl, token }: Target): Contestant {
  const serving = {
    residentBytes: () => readMetric(adminUrl, token, RESIDENT),
    ownBytes: () => readMetric(adminUrl, token, RESIDENT),
    cpuMs: async () => (await readMetric(adminUrl, token, CPU_SECONDS)) * 1000,
    collectionsBetween: () => ({ fullCollections: undefined, longestPauseMs: 0 }),
  };
  const target = { url, adminUrl, booksUrl: adminUrl, token, playerPrefix: TARGET_PLAYERS };
  return { name: 'target', start: async () => ({ name: 'target', ...target, settings: undefined, process: serving }) };
}

/** A value from walletd's metrics; NaN if the operator API does not grant access. */
async function readMetric(adminUrl: string, token: string | undefined, line: RegExp): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`, { headers: bearer(token) });
  return Number(line.exec(await response.text())?.[1]);
}
