import { isIP } from 'node:net';
import { ConfigError } from './config-error.js';
import type { Settings } from './schema.js';
import { findKindSettings } from './store-kinds.js';

/** Checks the rules that span several settings. Throws a `ConfigError`. */
export function checkTogether(settings: Settings): void {
  const { host, admin, insecure, signature, allow, tls, products } = settings;
  if (!isLoopback(host) && !insecure && signature.keys === null && allow.networks === null) {
    throw new ConfigError(
      `host is ${host}, which other machines can reach, and callbacks are not authenticated: set signature.keys or ` +
        'allow.networks, bind 127.0.0.1, or allow it with --insecure (WALLETD_INSECURE=true)',
    );
  }
  const twiceListed = findTwice(products.list.map(({ id }) => id));
  if (twiceListed !== undefined) throw new ConfigError(`products.list names ${twiceListed} twice`);
  const tokens = operatorTokens(settings);
  if (!isLoopback(admin.host) && tokens.length === 0) {
    throw new ConfigError(
      `admin.host is ${admin.host}, which other machines can reach: set admin.token (WALLETD_ADMIN_TOKEN), or bind 127.0.0.1`,
    );
  }
  if (!isLoopback(admin.host) && admin.tls.certificateFile === null && !insecure) {
    throw new ConfigError(
      `admin.host is ${admin.host}, which other machines can reach, and tokens would cross the network unencrypted: set ` +
        'admin.tls.certificateFile and admin.tls.keyFile, bind 127.0.0.1 behind a TLS proxy, or allow ' +
        'it with --insecure (WALLETD_INSECURE=true)',
    );
  }
  const names = tokens.map(({ name }) => name);
  if (names.includes('local')) throw new ConfigError('"local" is reserved: it names operators when no token is set');
  const twice = findTwice(names);
  if (twice !== undefined) throw new ConfigError(`admin.tokens and admin.token name the operator ${twice} twice`);
  if (new Set(tokens.map(({ token }) => token)).size < tokens.length) {
    throw new ConfigError('two operators of admin.tokens and admin.token have the same token');
  }
  for (const [name, files] of [['tls', tls] as const, ['admin.tls', admin.tls] as const]) {
    if ((files.certificateFile === null) !== (files.keyFile === null)) {
      throw new ConfigError(`${name}.certificateFile and ${name}.keyFile belong together: set both or none`);
    }
  }
  if (allow.forwardedBy === 'proxy-protocol' && tls.keyFile !== null) {
    throw new ConfigError(
      'allow.forwardedBy is proxy-protocol, which cannot be combined with TLS: terminate TLS at the proxy',
    );
  }
  if (allow.forwardedBy === 'proxy-protocol' && allow.proxies === null) {
    throw new ConfigError(
      'allow.forwardedBy is proxy-protocol, but no proxy is trusted: list the proxies in allow.proxies',
    );
  }
  const { bodyBytesMax, inFlightBytesMax } = settings.limits;
  if (inFlightBytesMax < bodyBytesMax) {
    throw new ConfigError(
      `limits.inFlightBytesMax is ${inFlightBytesMax}, but one body may have ${bodyBytesMax} (limits.bodyBytesMax): raise ` +
        'the first or lower the second',
    );
  }
  checkCluster(settings);
  const fsyncOnly = findKindSettings(settings.store)?.fsyncOnly;
  if (fsyncOnly !== undefined && settings.durability !== 'fsync') {
    throw new ConfigError(`durability is ${settings.durability}, but ${fsyncOnly} supports only fsync`);
  }
}

function checkCluster(settings: Settings): void {
  const { cluster, store } = settings;
  const { host, port, secret, tls } = cluster;
  const files = Object.values(tls);
  if (files.some((file) => file === null) && files.some((file) => file !== null)) {
    throw new ConfigError(
      'cluster.tls.certificateFile, cluster.tls.keyFile and cluster.tls.caFile belong together: set all or none',
    );
  }
  if (port === null) return;
  if (findKindSettings(store)?.isShareable === false) {
    throw new ConfigError('cluster.port is set, but the embedded store is for one node: nodes share a store in Redis');
  }
  if (!isLoopback(host) && secret === null) {
    throw new ConfigError(
      `cluster.host is ${host}, which other machines can reach: set cluster.secret (WALLETD_CLUSTER_SECRET), the same on all nodes`,
    );
  }
}

function findTwice(names: readonly string[]): string | undefined {
  return names.find((name, i) => names.indexOf(name) !== i);
}

/** All operator API tokens, including `admin.token`. */
export function operatorTokens({ admin }: Settings): Settings['admin']['tokens'] {
  const { token, tokens } = admin;
  return token === null ? tokens : [{ name: 'operator', role: 'operate', token }, ...tokens];
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
