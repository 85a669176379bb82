import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Ajv, type ErrorObject } from 'ajv';
import { ConfigError } from './config-error.js';
import { type Settings, settingsSchema } from './schema.js';

const DEFAULTS_FILE = new URL('../../../config/default.json', import.meta.url);
const PREFIX = 'WALLETD_';
const FILE_VARIABLE = 'WALLETD_CONFIG';
/** Their values are not repeated in messages. Each can be in a file of its own, which the setting behind it names. */
const SECRETS: Readonly<Record<string, string>> = {
  'admin.token': 'admin.tokenFile',
  'signature.keys': 'signature.keysFile',
  store: 'storeFile',
};
/** In a file of settings only. */
const SECRET_TABLES = ['admin.tokens'];
const TABLES = [...SECRET_TABLES, 'money.scales', 'products.list'];

/** Where a setting was given, for the message when it is wrong. */
type Sources = Map<string, string>;

type Tree = { [key: string]: unknown };

// Used once a start: neither a check of the schema (a test has it) nor faster code is worth 50 ms of each.
const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
});
const validate = ajv.compile<Settings>(settingsSchema);

/**
 * config/default.json, overridden by the file named in WALLETD_CONFIG, overridden by the environment. Files that hold
 * the secrets `unread` are left alone. Throws a `ConfigError`.
 */
export function loadSettings(env: NodeJS.ProcessEnv, unread: readonly string[] = []): Settings {
  const settings = readJson(DEFAULTS_FILE) as Tree;
  const sources: Sources = new Map();
  const file = env[FILE_VARIABLE];
  if (file !== undefined && file !== '') merge(settings, readJson(file), file, sources);
  mergeEnvironment(settings, env, sources);
  for (const [path, filePath] of Object.entries(SECRETS)) {
    if (!unread.includes(path)) readSecret(path, filePath, settings, sources);
  }
  if (!validate(settings)) throw new ConfigError(sentence(validate.errors?.[0], settings, sources));
  checkTogether(settings);
  return settings;
}

/**
 * A running server's settings with who may call as `fresh` has it. Its listeners stay where they are, whatever else has
 * changed: `fresh` may bind loopback from the next start on and need no keys there, and this one would be open to all.
 * Throws a `ConfigError`.
 */
export function withCallersOf(running: Settings, { insecure, signature, allow }: Settings): Settings {
  const settings = { ...running, insecure, signature, allow };
  checkTogether(settings);
  return settings;
}

/** What one setting alone cannot tell. */
function checkTogether(settings: Settings): void {
  const { host, admin, insecure, signature, allow, tls, products } = settings;
  if (!isLoopback(host) && !insecure && signature.keys === null && allow.networks === null) {
    throw new ConfigError(
      `host is ${host}, which others can reach, and callbacks are not authenticated: set signature.keys or ` +
        'allow.networks, bind 127.0.0.1, or say that you want it with --insecure (WALLETD_INSECURE=true)',
    );
  }
  const twiceListed = maybeTwice(products.list.map(({ id }) => id));
  if (twiceListed !== undefined) throw new ConfigError(`two entries of products.list are of ${twiceListed}`);
  const tokens = operatorTokens(settings);
  if (!isLoopback(admin.host) && tokens.length === 0) {
    throw new ConfigError(
      `admin.host is ${admin.host}, which others can reach: set admin.token (WALLETD_ADMIN_TOKEN), or bind 127.0.0.1`,
    );
  }
  const names = tokens.map(({ name }) => name);
  if (names.includes('local')) throw new ConfigError('no token can be of local: who needs no token is called so');
  const twice = maybeTwice(names);
  if (twice !== undefined) throw new ConfigError(`two tokens of admin.tokens and admin.token are of ${twice}`);
  if (new Set(tokens.map(({ token }) => token)).size < tokens.length) {
    throw new ConfigError('two operators of admin.tokens and admin.token have the same token');
  }
  for (const [name, files] of [['tls', tls] as const, ['admin.tls', admin.tls] as const]) {
    if ((files.certificateFile === null) !== (files.keyFile === null)) {
      throw new ConfigError(`${name}.certificateFile and ${name}.keyFile belong together: set both or none`);
    }
  }
  if (allow.forwardedBy === 'proxy-protocol' && tls.keyFile !== null) {
    throw new ConfigError('allow.forwardedBy is proxy-protocol, which does not go with TLS: end TLS at the proxy');
  }
  if (allow.forwardedBy === 'proxy-protocol' && allow.proxies === null) {
    throw new ConfigError(
      'allow.forwardedBy is proxy-protocol, and nobody is believed: list the proxies in allow.proxies',
    );
  }
  const { bodyBytesMax, inFlightBytesMax } = settings.limits;
  if (inFlightBytesMax < bodyBytesMax) {
    throw new ConfigError(
      `limits.inFlightBytesMax is ${inFlightBytesMax}, but one body may have ${bodyBytesMax} (limits.bodyBytesMax): raise ` +
        'the one or lower the other',
    );
  }
  if (settings.store.startsWith('lmdb:') && settings.durability !== 'fsync') {
    throw new ConfigError(`durability is ${settings.durability}, but the embedded store knows fsync only`);
  }
}

function maybeTwice(names: readonly string[]): string | undefined {
  return names.find((name, i) => names.indexOf(name) !== i);
}

/** All tokens of the operator API: also the one that needs no file. */
export function operatorTokens({ admin }: Settings): Settings['admin']['tokens'] {
  const { token, tokens } = admin;
  return token === null ? tokens : [{ name: 'operator', role: 'operate', token }, ...tokens];
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The environment variable of a setting: `void.allowNegativeBalance` is WALLETD_VOID_ALLOW_NEGATIVE_BALANCE. */
export function variableOf(path: string): string {
  return PREFIX + path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

/** The paths of all settings that are a single value. */
export function scalarPaths(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = prefix + key;
    if (Array.isArray(value) || TABLES.includes(path)) return [];
    return isTree(value) ? scalarPaths(value, `${path}.`) : [path];
  });
}

function mergeEnvironment(settings: Tree, env: NodeJS.ProcessEnv, sources: Sources): void {
  const paths = new Map(scalarPaths(settings).map((path) => [variableOf(path), path]));
  for (const [variable, text] of Object.entries(env)) {
    // An empty variable is how compose files and the like say "not set".
    if (!variable.startsWith(PREFIX) || variable === FILE_VARIABLE || text === undefined || text === '') continue;
    const path = paths.get(variable);
    const table = TABLES.find((one) => variableOf(one) === variable);
    if (table !== undefined) {
      throw new ConfigError(`${table} can only be set in a file, which ${FILE_VARIABLE} names (from ${variable})`);
    }
    if (path === undefined) throw new ConfigError(`${variable} is not a setting of walletd`);
    setValue(settings, path, parse(path, text));
    sources.set(path, variable);
  }
}

/** A value of the environment overrides the name of a file in a file; in one place the file's name wins. */
function readSecret(path: string, filePath: string, settings: Tree, sources: Sources): void {
  const file = valueAt(settings, filePath);
  const isOverridden = sources.get(path) === variableOf(path) && sources.get(filePath) !== variableOf(filePath);
  if (typeof file !== 'string' || file === '' || isOverridden) return;
  setValue(settings, path, readText(file, filePath).trim());
  sources.set(path, file);
}

function setValue(settings: Tree, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() as string;
  const parent = keys.length === 0 ? settings : valueAt(settings, keys.join('.'));
  if (isTree(parent)) parent[last] = value;
}

function valueAt(settings: Tree, path: string): unknown {
  return path.split('.').reduce<unknown>((tree, key) => (isTree(tree) ? tree[key] : undefined), settings);
}

/** Environment variables are text: read as a number or a truth value where the setting can be one. */
function parse(path: string, text: string): unknown {
  const types = typesOf(path);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.includes('integer') || types.includes('number');
  return isNumeric && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function typesOf(path: string): string[] {
  let schema: { type?: string | string[]; properties?: Record<string, object> } = settingsSchema;
  for (const key of path.split('.')) schema = schema.properties?.[key] ?? {};
  return [schema.type ?? []].flat();
}

function merge(into: Tree, from: unknown, source: string, sources: Sources, prefix = ''): void {
  if (!isTree(from)) throw new ConfigError(`${source} must hold a JSON object`);
  for (const [key, value] of Object.entries(from)) {
    const path = prefix + key;
    // To assign it would leave no trace of it.
    if (key === '__proto__') throw new ConfigError(`${path} is not a setting of walletd (from ${source})`);
    const standing = Object.hasOwn(into, key) ? into[key] : undefined;
    if (isTree(standing) && !TABLES.includes(path)) {
      if (!isTree(value)) throw new ConfigError(`${path} must be an object with settings (from ${source})`);
      merge(standing, value, source, sources, `${path}.`);
    } else {
      into[key] = value;
      sources.set(path, source);
    }
  }
}

function readJson(file: URL | string): unknown {
  const text = readText(file, FILE_VARIABLE);
  try {
    // Some editors begin a file with a mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    // The parser shows what stands around the fault, which may be a secret.
    const told = (error as Error).message.replace(/,? (?:\.\.\.)?".*$/s, '');
    throw new ConfigError(`${file} is not JSON: ${told}`);
  }
}

function readText(file: URL | string, setting: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file} (${setting}): ${(error as Error).message}`);
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One sentence about the first thing that is wrong. The value of a secret is not repeated. */
function sentence(error: ErrorObject | undefined, settings: Tree, sources: Sources): string {
  if (error === undefined) return 'the settings are not valid';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'additionalProperties') {
    const name = [path, (error.params as { additionalProperty: string }).additionalProperty].filter(Boolean).join('.');
    return `${name} is not a setting of walletd${from(name, sources)}`;
  }
  const shown = holdsSecret(path) ? 'what is given' : JSON.stringify(valueAt(settings, path));
  return `${path} cannot be ${shown}${from(path, sources)}: it ${expectation(error)}`;
}

/** Also a group in the place of which something else was given, and what was put below a secret. */
function holdsSecret(path: string): boolean {
  const secrets = [...Object.keys(SECRETS), ...SECRET_TABLES];
  return secrets.some((secret) => `${secret}.`.startsWith(`${path}.`) || path.startsWith(`${secret}.`));
}

function expectation(error: ErrorObject): string {
  if (error.keyword === 'enum') {
    const values = (error.params as { allowedValues: unknown[] }).allowedValues.filter((value) => value !== null);
    return `must be one of ${values.join(', ')}`;
  }
  if (error.instancePath === '/store') return 'must be lmdb:FOLDER, redis://…, rediss://… or redis+sentinel://…';
  if (/token$/.test(error.instancePath)) return 'must be 16 or more characters that a header can carry, without blanks';
  if (error.instancePath === '/durability') return 'must be fsync, os or replicas:N';
  if (/tokens\/\d+\/name$/.test(error.instancePath)) return 'must be 1 to 64 characters, no control characters';
  return (error.message ?? 'is not valid').replace(/,null$/, '');
}

/** A value inside a table has the source of the table. */
function from(path: string, sources: Sources): string {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const source = sources.get(at);
    if (source !== undefined) return ` (from ${source})`;
  }
  return '';
}
