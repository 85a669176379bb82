import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { decodeText } from '../base/decode-text.js';
import { messageOf } from '../base/message-of.js';
import { checkTogether } from './check-together.js';
import { ConfigError } from './config-error.js';
import { type Sources, sentence } from './refusal.js';
import { type Settings, settingsSchema } from './schema.js';
import { SECRET_TABLES, SECRETS } from './secrets.js';
import { isTree, type Tree, valueAt } from './tree.js';

const DEFAULTS_FILE = new URL('../../../config/default.json', import.meta.url);
const PREFIX = 'WALLETD_';
const FILE_VARIABLE = 'WALLETD_CONFIG';
/** Settings that are tables or lists. Each has a single source. */
export const TABLES: readonly string[] = [
  ...SECRET_TABLES,
  'money.scales',
  'money.amountMaxima',
  'money.byHand.amountMaxima',
  'money.byHand.dayMaxima',
  'money.byHand.approveAbove',
  'products.list',
  'callbacks.aliases',
];

// The validator runs once per startup. Validating the schema itself (a test does that) or generating faster code is not
// worth 50 ms at each startup.
const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  validateSchema: false,
  meta: false,
  code: { optimize: false },
});
const validate = ajv.compile<Settings>(settingsSchema);

/** Settings and their sources, each a file or an environment variable. Settings with default values have no source. */
export interface Loaded {
  readonly settings: Settings;
  readonly sources: Sources;
}

/**
 * Loads config/default.json, overridden by the file that WALLETD_CONFIG names, overridden in turn by environment
 * variables. Does not open the files of the secrets in `unread`. Throws a `ConfigError`.
 */
export function loadSettings(env: NodeJS.ProcessEnv, unread: readonly string[] = []): Settings {
  return loadWithSources(env, unread).settings;
}

/** Loads the settings together with their sources. */
export function loadWithSources(env: NodeJS.ProcessEnv, unread: readonly string[] = []): Loaded {
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
  return { settings, sources };
}

/**
 * Settings of a running server, with the callers and operators of the reloaded settings. The listeners keep their
 * addresses. Checking the reloaded settings with their own addresses would be unsafe: they may bind loopback after the
 * next startup and thus need no keys, while this server would be open to everyone. Throws a `ConfigError`.
 */
export function withCallersOf(running: Settings, { insecure, signature, allow, admin }: Settings): Settings {
  const { token, tokens } = admin;
  const { maxSkewMs } = running.signature;
  // Shards remember signed requests for as long as a signature is valid. That time is fixed when they start.
  if (signature.maxSkewMs !== maxSkewMs) {
    throw new ConfigError(
      `signature.maxSkewMs is ${maxSkewMs} until a restart, and cannot become ${signature.maxSkewMs}`,
    );
  }
  const settings = { ...running, insecure, signature, allow, admin: { ...running.admin, token, tokens } };
  checkTogether(settings);
  return settings;
}

/**
 * The environment variable for a setting. For example, `void.allowNegativeBalance` is
 * WALLETD_VOID_ALLOW_NEGATIVE_BALANCE.
 */
export function variableOf(path: string): string {
  return PREFIX + path.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase();
}

/** Paths of all settings that have a single value. */
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
    // Compose files and similar tools use an empty variable to mean "not set".
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

/**
 * A value in the environment overrides a file named in a settings file. If both have the same source, the file wins.
 */
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

/** Parses a variable's text as a number or a boolean if the setting allows one. */
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
  if (!isTree(from)) throw new ConfigError(`${source} must contain a JSON object`);
  for (const [key, value] of Object.entries(from)) {
    const path = prefix + key;
    // Refuse this key, because an assignment to it would silently do nothing.
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
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text around the error, which may be a secret.
    const reason = messageOf(error).replace(/,? (?:\.\.\.)?".*$/s, '');
    throw new ConfigError(`${file} is not JSON: ${reason}`);
  }
}

function readText(file: URL | string, setting: string): string {
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new ConfigError(`cannot read ${file} (${setting}): ${messageOf(error)}`);
  }
}
