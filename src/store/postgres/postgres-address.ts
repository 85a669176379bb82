import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { decodeText } from '../../base/decode-text.js';
import { messageOf } from '../../base/message-of.js';

/** The address of a PostgreSQL server. `login` contains its password. `name` is human-readable and does not. */
export interface PostgresAddress {
  readonly name: string;
  readonly login: PostgresLogin;
}

/** Fields in the form that the `pg` library expects. */
export interface PostgresLogin {
  /** Undefined: the user in PGUSER, or else the process's user. */
  readonly user?: string;
  readonly password?: string;
  /** Host name, IP address, or folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly ssl: false | ConnectionOptions;
  readonly application_name: string;
  readonly options?: string;
}

/**
 * An address that cannot work. The message names the faulty part and the fix, but contains no value from the address.
 */
export class AddressError extends Error {
  override readonly name = 'AddressError';
}

const FORM = 'postgres://user:password@host:port/database';
const SCHEME = /^postgres(?:ql)?:\/\//;
const PORT = 5432;
const PORT_MAX = 65_535;
const APPLICATION = 'walletd';
const PARAMETERS = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'application_name', 'options'];
/** Modes that verify the server's certificate and name. Both behave in the same way here. */
const VERIFYING = ['require', 'verify-ca', 'verify-full'];
const ENCODED: Readonly<Record<string, string>> = { '/': '%2F', '?': '%3F', '#': '%23', '@': '%40', '%': '%25' };

/** Reads `postgres://user:password@host:port/database?sslmode=verify-full`. Throws an `AddressError`. */
export function parsePostgresAddress(text: string): PostgresAddress {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined) throw new AddressError(`it must begin with postgres:// (${FORM})`);
  const rest = text.slice(scheme.length);
  const authorityEnd = endOf(rest, /[/?#]/);
  const authority = rest.slice(0, authorityEnd);
  const at = authority.lastIndexOf('@');
  refuseUnescaped(authority, rest.slice(authorityEnd), at);
  const [path = '', query = ''] = splitAt(rest.slice(authorityEnd), '?');
  const parameters = parametersOf(query);
  const place = placeOf(authority.slice(at + 1), parameters.get('host'));
  const database = databaseOf(path);
  const options = parameters.get('options');
  return {
    name: `postgres://${nameOf(place)}/${database}`,
    login: {
      ...credentialsOf(authority.slice(0, Math.max(0, at))),
      ...place,
      database,
      ssl: tlsOf(parameters),
      application_name: parameters.get('application_name') ?? APPLICATION,
      ...(options === undefined ? {} : { options }),
    },
  };
}

/**
 * Refuses a password that contains one of these characters unescaped, because such a character would end the authority
 * too early or shift its end.
 */
function refuseUnescaped(authority: string, behind: string, at: number): void {
  const [path = ''] = splitAt(behind, '?');
  const isCutOff = at === -1 && (behind.startsWith('/') ? path : behind).includes('@');
  const ender = isCutOff ? behind[0] : undefined;
  const character = ender ?? (authority.indexOf('@') === at ? undefined : '@');
  if (character !== undefined) throw unescaped('its user or password', character);
  if (path.includes('@')) throw unescaped('its user or password', '@ or /');
  if (behind.includes('#')) throw unescaped('a part of it', '#');
}

function unescaped(part: string, character: string): AddressError {
  const cure = Object.hasOwn(ENCODED, character) ? `: write ${ENCODED[character]}` : ': write %40 and %2F';
  return new AddressError(`${part} contains an unescaped ${character}; percent-encode it${cure} (${FORM})`);
}

function credentialsOf(login: string): Pick<PostgresLogin, 'user' | 'password'> {
  const [user = '', password = ''] = splitAt(login, ':');
  if (user === '' && login !== '') throw new AddressError(`there is a password before @, but no user (${FORM})`);
  return {
    ...(user === '' ? {} : { user: decoded(user, 'its user') }),
    ...(password === '' ? {} : { password: decoded(password, 'its password') }),
  };
}

function placeOf(text: string, socketFolder: string | undefined): Pick<PostgresLogin, 'host' | 'port'> {
  if (text.includes(',')) {
    throw new AddressError('it names several servers: use one name that follows the primary');
  }
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::(.*))?$/.exec(text);
  if (match === null) throw new AddressError(`its host is invalid; an IPv6 address needs brackets (${FORM})`);
  const [, name = '', port = ''] = match;
  const number = port === '' ? PORT : Number(port);
  if (!/^\d*$/.test(port) || number < 1 || number > PORT_MAX) {
    throw new AddressError(`its port must be a number from 1 to ${PORT_MAX}; an IPv6 address needs brackets (${FORM})`);
  }
  const host = socketFolder ?? decoded(name.replace(/^\[|\]$/g, ''), 'its host');
  if (host === '') throw new AddressError(`it has no host (${FORM})`);
  if (/\s/.test(host)) throw new AddressError(`its host contains a blank (${FORM})`);
  return { host, port: number };
}

function databaseOf(path: string): string {
  const name = path.slice(1);
  if (name === '') throw new AddressError(`it has no database: add /NAME after the host (${FORM})`);
  if (name.includes('/')) {
    throw new AddressError(`its database contains a /: write one name after the host, with any / as %2F (${FORM})`);
  }
  return decoded(name, 'its database');
}

function parametersOf(query: string): ReadonlyMap<string, string> {
  const pairs = query === '' ? [] : query.split('&').map((pair) => splitAt(pair, '='));
  const parameters = new Map<string, string>();
  for (const [name = '', value = ''] of pairs) {
    // Do not repeat the name, because it may be the end of a password with an unescaped question mark.
    if (!PARAMETERS.includes(name)) {
      throw new AddressError(`it has a parameter that walletd does not support: use ${PARAMETERS.join(', ')}`);
    }
    parameters.set(name, decoded(value, `its parameter ${name}`));
  }
  return parameters;
}

function tlsOf(parameters: ReadonlyMap<string, string>): PostgresLogin['ssl'] {
  const files = ['sslrootcert', 'sslcert', 'sslkey'].filter((name) => parameters.has(name));
  const mode = parameters.get('sslmode') ?? (files.length > 0 ? 'verify-full' : 'disable');
  if (mode === 'disable') {
    if (files.length > 0) throw new AddressError(`sslmode=disable and ${files.join(', ')} contradict each other`);
    return false;
  }
  if (mode !== 'no-verify' && !VERIFYING.includes(mode)) {
    throw new AddressError(
      `its sslmode must be one of disable, no-verify, ${VERIFYING.join(', ')}: walletd never falls back to plain text`,
    );
  }
  if (parameters.has('sslcert') !== parameters.has('sslkey')) {
    throw new AddressError('sslcert and sslkey belong together: set both or none');
  }
  return {
    rejectUnauthorized: mode !== 'no-verify',
    ...fileOf(parameters, 'sslrootcert', 'ca'),
    ...fileOf(parameters, 'sslcert', 'cert'),
    ...fileOf(parameters, 'sslkey', 'key'),
  };
}

function fileOf(parameters: ReadonlyMap<string, string>, name: string, option: string): ConnectionOptions {
  const path = parameters.get(name);
  if (path === undefined) return {};
  try {
    return { [option]: decodeText(readFileSync(path)) };
  } catch (error) {
    throw new AddressError(`cannot read ${path} (its ${name}): ${messageOf(error)}`);
  }
}

function nameOf({ host, port }: Pick<PostgresLogin, 'host' | 'port'>): string {
  if (host.startsWith('/')) return encodeURIComponent(host);
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function decoded(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unescaped(part, '%');
  }
}

/** The index of the first match, or the length of the text. */
function endOf(text: string, pattern: RegExp): number {
  const index = text.search(pattern);
  return index === -1 ? text.length : index;
}

function splitAt(text: string, separator: string): string[] {
  const index = text.indexOf(separator);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + separator.length)];
}
