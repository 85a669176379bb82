import { messageOf } from '../../base/message-of.js';
import { isLoopback } from '../../config/check-together.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import { AddressList } from '../../http/address-list.js';
import { Callers } from '../../http/callers.js';
import { parseKeys, type SignatureKey, Signatures } from '../../http/signature.js';

/** With a proxy on this machine that adds no forwarding header, any client appears to be local; see docs/proxies.md. */
export const LOCAL_PROGRAMS = 'programs on this machine, and all callers of a local proxy that adds no header';

/** The callers that the settings allow. Throws a `ConfigError` that names the setting but never contains a secret. */
export function callersOf({ signature, allow, insecure }: Pick<Settings, 'signature' | 'allow' | 'insecure'>): Callers {
  const keys = keysOf(signature.keys);
  return new Callers({
    networks: listOf(allow.networks, 'allow.networks'),
    proxies: listOf(allow.proxies, 'allow.proxies'),
    forwardedBy: allow.forwardedBy,
    signatures: keys.length === 0 ? undefined : new Signatures(keys, signature.maxSkewMs),
    trustsLoopback: keys.length === 0 && allow.networks === null && !insecure,
  });
}

/** A human-readable description of the allowed callers, for the log. */
export function describeCallers({
  host,
  signature,
  allow,
  insecure,
}: Pick<Settings, 'host' | 'signature' | 'allow' | 'insecure'>): string {
  const ids = keysOf(signature.keys).map(({ id }) => id);
  const conditions = [
    ...(ids.length === 0 ? [] : [`callers who sign with ${ids.join(' or ')}`]),
    ...(allow.networks === null ? [] : [`callers from ${allow.networks}`]),
  ];
  if (conditions.length > 0) return conditions.join(', and ');
  if (!isLoopback(host)) return 'anybody';
  return insecure ? 'this machine, and all callers whose requests its browsers and proxies forward' : LOCAL_PROGRAMS;
}

function keysOf(text: string | null): readonly SignatureKey[] {
  return text === null ? [] : named('signature.keys', () => parseKeys(text));
}

function listOf(text: string | null, setting: string): AddressList | undefined {
  if (text === null) return undefined;
  const list = named(setting, () => AddressList.parse(text));
  if (list.size === 0) throw new ConfigError(`${setting} lists nothing`);
  return list;
}

function named<T>(setting: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new ConfigError(`${setting} cannot be used: ${messageOf(error)}`);
  }
}
