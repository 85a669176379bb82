import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Ajv, type ErrorObject } from 'ajv';
import { type Settings, settingsSchema } from './schema.js';

/** A setting that is wrong or unknown. The message is one sentence that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const DEFAULTS_FILE = new URL('../../../config/default.json', import.meta.url);
const PREFIX = 'WALLETD_';
const FILE_VARIABLE = 'WALLETD_CONFIG';
/** Their values are not repeated in messages. */
const SECRETS = ['admin.token', 'admin.tokens', 'store'];

/** Where a setting was given, for the message when it is wrong. */
type Sources = Map<string, string>;

type Tree = { [key: string]: unknown };

const ajv = new Ajv({ allErrors: false, strict: true, allowUnionTypes: true });
const validate = ajv.compile<Settings>(settingsSchema);

/**
 * config/default.json, overridden by the file named in WALLETD_CONFIG, overridden by the environment.
 * Throws a `ConfigError`.
 */
export function loadSettings(env: NodeJS.ProcessEnv): Settings {
  const settings = readJson(DEFAULTS_FILE) as Tree;
  const sources: Sources = new Map();
  const file = env[FILE_VARIABLE];
  if (file !== undefined && file !== '') merge(settings, readJson(file), file, sources);
  mergeEnvironment(settings, env, sources);
  if (!validate(settings)) throw new ConfigError(sentence(validate.errors?.[0], settings, sources));
  checkTogether(settings);
  return settings;
}

/** What one setting alone cannot tell. */
function checkTogether(settings: Settings): void {
  const { host, admin, insecure } = settings;
  if (!isLoopback(host) && !insecure) {
    throw new ConfigError(
      `host is ${host}, which others can reach, and callbacks are not authenticated: ` +
        'bind 127.0.0.1, or say that you want it with --insecure (WALLETD_INSECURE=true)',
    );
  }
  const tokens = operatorTokens(settings);
  if (!isLoopback(admin.host) && tokens.length === 0) {
    throw new ConfigError(
      `admin.host is ${admin.host}, which others can reach: set admin.token (WALLETD_ADMIN_TOKEN), or bind 127.0.0.1`,
    );
  }
  const names = tokens.map(({ name }) => name);
  if (names.includes('local')) throw new ConfigError('no token can be of local: who needs no token is called so');
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new ConfigError(`two tokens of admin.tokens and admin.token are of ${twice}`);
  if (new Set(tokens.map(({ token }) => token)).size < tokens.length) {
    throw new ConfigError('two operators of admin.tokens and admin.token have the same token');
  }
  if (settings.store.startsWith('lmdb:') && settings.durability !== 'fsync') {
    throw new ConfigError(`durability is ${settings.durability}, but the embedded store knows fsync only`);
  }
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
    if (Array.isArray(value) || key === 'scales') return [];
    return isTree(value) ? scalarPaths(value, `${prefix}${key}.`) : [prefix + key];
  });
}

function mergeEnvironment(settings: Tree, env: NodeJS.ProcessEnv, sources: Sources): void {
  const paths = new Map(scalarPaths(settings).map((path) => [variableOf(path), path]));
  for (const [variable, text] of Object.entries(env)) {
    // An empty variable is how compose files and the like say "not set".
    if (!variable.startsWith(PREFIX) || variable === FILE_VARIABLE || text === undefined || text === '') continue;
    const path = paths.get(variable);
    if (path === undefined) throw new ConfigError(`${variable} is not a setting of walletd`);
    const keys = path.split('.');
    const last = keys.pop() as string;
    const parent = keys.reduce((tree, key) => tree[key] as Tree, settings);
    parent[last] = parse(path, text);
    sources.set(path, variable);
  }
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
    const standing = Object.hasOwn(into, key) ? into[key] : undefined;
    if (isTree(value) && isTree(standing) && key !== 'scales') {
      merge(standing, value, source, sources, `${path}.`);
    } else {
      into[key] = value;
      sources.set(path, source);
    }
  }
}

function readJson(file: URL | string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file} (${FILE_VARIABLE}): ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${file} is not JSON: ${(error as Error).message}`);
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
  const value = path.split('.').reduce<unknown>((tree, key) => (tree as Tree)[key], settings);
  const isSecret = SECRETS.some((secret) => path === secret || path.startsWith(`${secret}.`));
  const shown = isSecret ? 'what is given' : JSON.stringify(value);
  return `${path} cannot be ${shown}${from(path, sources)}: it ${expectation(error)}`;
}

function expectation(error: ErrorObject): string {
  if (error.keyword === 'enum') {
    const values = (error.params as { allowedValues: unknown[] }).allowedValues.filter((value) => value !== null);
    return `must be one of ${values.join(', ')}`;
  }
  if (error.instancePath === '/store') return 'must be lmdb:FOLDER, redis://…, rediss://… or redis+sentinel://…';
  if (error.instancePath === '/durability') return 'must be fsync, os or replicas:N';
  return error.message ?? 'is not valid';
}

/** A value inside a table has the source of the table. */
function from(path: string, sources: Sources): string {
  for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const source = sources.get(at);
    if (source !== undefined) return ` (from ${source})`;
  }
  return '';
}
