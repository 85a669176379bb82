import type { RedisOptions } from 'ioredis';

/** Where a Redis is. The text holds a password; `name` is for people and does not. */
export interface RedisAddress {
  readonly name: string;
  readonly options: RedisOptions;
}

const SCHEME = /^(redis|rediss|redis\+sentinel):\/\//;
const PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * `redis://user:password@host:port/database`, `rediss://…` for TLS, `redis+sentinel://user:password@host:port,host:port/name/database`.
 * Undefined when the text is none of these.
 */
export function maybeRedisAddress(text: string): RedisAddress | undefined {
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme === undefined) return undefined;
  const rest = /^(?:([^@/]*)@)?([^@/]+)((?:\/[^/]*)*)$/.exec(text.slice(scheme.length + 3));
  if (rest === null) return undefined;
  const [, login = '', hosts = '', path = ''] = rest;
  const segments = path.split('/').slice(1);
  const name = scheme === 'redis+sentinel' ? segments.shift() : undefined;
  const database = segments.shift() ?? '';
  const servers = hosts.split(',').map((host) => maybeServer(host, name === undefined ? PORT : SENTINEL_PORT));
  if (segments.length > 0 || !/^\d{0,4}$/.test(database) || servers.includes(undefined)) return undefined;
  const [server] = servers as Server[];
  if (server === undefined || (name === undefined && servers.length > 1) || name === '') return undefined;
  const options: RedisOptions = { ...credentials(login), db: Number(database) };
  if (scheme === 'rediss') options.tls = {};
  if (name === undefined) Object.assign(options, server);
  else Object.assign(options, { sentinels: servers, name });
  return { name: `${scheme}://${hosts}${path}`, options };
}

interface Server {
  readonly host: string;
  readonly port: number;
}

function maybeServer(text: string, defaultPort: number): Server | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const [, host = '', port] = match;
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? defaultPort : Number(port) };
}

/** `user:password`, `:password` or nothing, each part percent-encoded. */
function credentials(login: string): RedisOptions {
  const [user = '', password = ''] = login.split(/:(.*)/s).map(decodeURIComponent);
  return { ...(user === '' ? {} : { username: user }), ...(password === '' ? {} : { password }) };
}
