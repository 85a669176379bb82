import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadSettings } from '../../src/config/load.js';
import { inTempFolder } from '../support/temp-folder.js';
import { ROOT } from './pages.js';

/*
 * Checks config/compose.yaml against the files and settings that it refers to. The schema of the Compose specification is
 * not on the npm registry in a version that knows `configs.content`.
 */

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly healthcheck?: unknown;
  readonly read_only?: boolean;
}

interface Compose {
  readonly services: Readonly<Record<'walletd' | 'store' | 'archive' | 'prometheus' | 'grafana', Service>>;
  readonly configs: Readonly<Record<string, { readonly file?: string; readonly content?: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const SECRET = /\$\{([A-Z_]+)(:[?-][^}]*)?\}/g;
const text = readFileSync(join(ROOT, 'config/compose.yaml'), 'utf8');
const { services, configs, volumes } = parse(text.replaceAll(SECRET, 'a-secret-of-$1')) as Compose;
const all: readonly (readonly [string, Service])[] = Object.entries(services);
const contentOf = (name: string) => parse(configs[name]?.content ?? '');

test('every config, volume and service that compose.yaml refers to exists', () => {
  for (const [name, service] of all) {
    for (const { source } of service.configs ?? []) assert.ok(source in configs, `${name}: ${source}`);
    for (const volume of service.volumes ?? [])
      assert.ok((volume.split(':')[0] as string) in volumes, `${name}: ${volume}`);
    for (const other of Object.keys(service.depends_on ?? {})) {
      assert.notEqual(services[other as keyof typeof services].healthcheck, undefined, `${name}: ${other}`);
    }
  }
  for (const { file } of Object.values(configs)) {
    if (file !== undefined) assert.ok(existsSync(join(ROOT, 'config', file)), file);
  }
});

test('compose.yaml publishes every port on this machine only', () => {
  for (const [name, { ports = [] }] of all) {
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/, name);
  }
});

test('the settings in compose.yaml are accepted, and its secrets are all generated', () =>
  inTempFolder(async (folder) => {
    const WALLETD_CONFIG = join(folder, 'walletd.json');
    writeFileSync(WALLETD_CONFIG, configs['walletd.json']?.content ?? '');
    const settings = loadSettings({ ...services.walletd.environment, WALLETD_CONFIG, WALLETD_INSECURE: 'true' });
    assert.match(settings.store, /@store:6379/);
    assert.match(settings.archive ?? '', /@archive:5432/);
    assert.deepEqual(services.walletd.command, ['serve', '--insecure']);
    const generated = /for name in ([A-Z_ ]+);/.exec(text)?.[1]?.split(' ') ?? [];
    const used = [...text.matchAll(SECRET)].map(([, name]) => name as string).filter((name) => name !== 'REVISION');
    assert.deepEqual([...new Set(used)].sort(), generated.sort());
  }));

test('Prometheus in compose.yaml scrapes walletd under the job name of the alerts', () => {
  const { rule_files, scrape_configs } = contentOf('prometheus.yaml');
  assert.deepEqual(rule_files, ['alerts.yaml']);
  const [{ job_name, authorization, static_configs }] = scrape_configs;
  assert.deepEqual([job_name, static_configs[0].targets], ['walletd', ['walletd:3001']]);
  const [token] = contentOf('walletd.json').admin.tokens;
  assert.deepEqual([token.role, token.token], ['monitor', authorization.credentials]);
});

test('Grafana in compose.yaml finds its data source and the dashboard', () => {
  const { path } = contentOf('grafana-dashboards.yaml').providers[0].options;
  const dashboard = services.grafana.configs?.find(({ source }) => source === 'grafana-dashboard.json');
  assert.ok(dashboard?.target.startsWith(`${path}/`));
  assert.equal(contentOf('grafana-source.yaml').datasources[0].url, 'http://prometheus:9090');
});

test("walletd's container in compose.yaml has a read-only root", () => assert.equal(services.walletd.read_only, true));
