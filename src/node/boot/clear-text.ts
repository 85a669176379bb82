import { isLoopback } from '../../config/check-together.js';
import { ConfigError } from '../../config/config-error.js';
import type { Settings } from '../../config/schema.js';
import { parseRedisAddress } from '../../store/redis/redis-address.js';
import { findArchiveAddress } from '../drivers/archive-address.js';

/** A warning that passwords, names and amounts travel unencrypted to a remote server, with the remedy. */
export interface ClearTextWarning {
  readonly about: 'store' | 'archive';
  readonly code: 'clear-text';
  readonly says: string;
  readonly todo: string;
}

export function clearTextWarnings(settings: Pick<Settings, 'store' | 'archive'>): readonly ClearTextWarning[] {
  const redis = parseRedisAddress(settings.store);
  const inClear = redis?.servers.flatMap(({ host, sentinels, tls }) =>
    tls === undefined ? [host, ...(sentinels ?? []).map((sentinel) => sentinel.host)] : [],
  );
  const postgres = findArchiveAddress(settings);
  const todo = 'set up TLS or a tunnel, and requireTls; see docs/security.md';
  return [
    ...(redis !== undefined && inClear?.some(isRemote) === true
      ? [
          {
            about: 'store',
            code: 'clear-text',
            says: `the connection to ${redis.name} crosses the network unencrypted`,
            todo,
          } as const,
        ]
      : []),
    ...(postgres?.login.ssl === false && isRemote(postgres.login.host)
      ? [
          {
            about: 'archive',
            code: 'clear-text',
            says: `the connection to ${postgres.name} crosses the network unencrypted`,
            todo,
          } as const,
        ]
      : []),
  ];
}

/** Throws a `ConfigError` if `requireTls` is set and a remote server is used without TLS. */
export function mustBeEncrypted(settings: Pick<Settings, 'store' | 'archive' | 'requireTls'>): void {
  const [first] = settings.requireTls ? clearTextWarnings(settings) : [];
  if (first === undefined) return;
  const cure =
    first.about === 'store'
      ? 'use rediss://, rediss+sentinel:// or rediss+cluster:// in store'
      : 'add an sslmode to archive';
  throw new ConfigError(`requireTls is true, and ${first.says}: ${cure}, or use a tunnel that ends on this machine`);
}

/** A host that begins with a slash is the folder of a Unix socket and therefore local. */
function isRemote(host: string | undefined): boolean {
  return host !== undefined && !host.startsWith('/') && !isLoopback(host);
}
