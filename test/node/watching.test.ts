import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { parse as parseYaml } from 'yaml';
import type { ClusterMeasures } from '../../src/cluster/cluster-measures.js';
import { backupMetrics } from '../../src/node/metrics/backup-metrics.js';
import { ClusterMetrics } from '../../src/node/metrics/cluster-metrics.js';
import { expose } from '../../src/telemetry/exposition.js';
import { makeCertificate } from '../support/certificate.js';
import { bet, importPlayers } from '../support/client.js';
import { Scrape } from '../support/scrape.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

/** Metrics that Prometheus itself generates. */
const NOT_OURS = ['up'];

/** Measurements of a cluster node with one standby shard. */
const IN_A_CLUSTER: ClusterMeasures = {
  members: { up: 2, draining: 0, leaving: 0, gone: 0 },
  missing: [],
  versions: 1,
  links: 1,
  seesTable: true,
  unowned: 0,
  unfollowed: 0,
  following: [{ shard: 0, entriesBehind: 0, behindMs: 0 }],
  parked: 0,
  forwarded: 0,
  resent: 0,
  clockBehindMs: 0,
};

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly action?: string };
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly fieldConfig?: {
    readonly defaults: { readonly thresholds?: { readonly steps: readonly { readonly color: string }[] } };
  };
}

const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../../config/${name}`, import.meta.url)), 'utf8');

const alerts = (parseYaml(read('alerts.yaml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);
const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
  panels: Panel[];
  templating: { list: { query: string | { query: string } }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');

/** Labels that Prometheus itself adds to each series. */
const NOT_OUR_LABELS = ['job', 'instance'];

/** Series of one metric that an expression selects. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly isRegex: boolean; readonly value: string }[];
}

/** Selectors in an expression, according to Prometheus' own grammar. Leaves out metrics whose absence is required. */
function selectorsOf(expression: string): Selector[] {
  // Grafana replaces this variable with a duration before it queries.
  const expr = expression.replaceAll('$__rate_interval', '1m');
  const textOf = ({ from, to }: { from: number; to: number }) => expr.slice(from, to);
  const selectors: Selector[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, node }) => {
      assert.ok(!type.isError, `PromQL cannot read ${expr} at ${from}`);
      if (type.name !== 'VectorSelector') return;
      const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
      selectors.push({
        metric: textOf(node.getChild('Identifier') as { from: number; to: number }),
        matchers: matchers.flatMap((matcher) => {
          const [label, op, value] = textOf(matcher).split(/(=~|!~|!=|=)/) as [string, string, string];
          if (op.startsWith('!') || NOT_OUR_LABELS.includes(label) || value.includes('$')) return [];
          return [{ label, isRegex: op === '=~', value: JSON.parse(value) as string }];
        }),
      });
    },
  });
  return selectors;
}

/** Metrics named in an expression. */
function metricsOf(expression: string): string[] {
  return selectorsOf(expression).map(({ metric }) => metric);
}

/**
 * Prometheus sees no increase in a series that first appears with the value 1. A series that an expression selects by
 * its labels must therefore exist before its first event, for each value that a regular expression lists.
 */
function assertSelects(expression: string, about: string, scrape: Scrape): void {
  for (const { metric, matchers } of selectorsOf(expression)) {
    if (NOT_OURS.includes(metric)) continue;
    assert.ok(scrape.has(metric), `${about}: ${metric}`);
    for (const { label, isRegex, value } of matchers) {
      for (const one of isRegex ? value.split('|') : [value]) {
        assert.ok(scrape.series(metric, { [label]: one }).length > 0, `${about}: ${metric}{${label}="${one}"}`);
      }
    }
  }
}

let node: TestNode;
/** Scrape of a node, plus the metrics of a cluster node. */
let scrape: Scrape;
/** All series that Prometheus has, including those that `walletd backup --metrics` writes into a file. */
let all: Scrape;

const folder = makeTempFolder();

before(async () => {
  const { certificateFile, keyFile } = makeCertificate(folder.path, 'callbacks.test');
  node = await TestNode.start({ 'tls.certificateFile': certificateFile, 'tls.keyFile': keyFile });
  await importPlayers(node.adminUrl, ['ann'], 1000);
  const callbackUrl = node.callbackUrl.replace('http:', 'https:');
  await post(callbackUrl, 'placeBets', bet('ann', 'b1', 10));
  const txns = [{ refId: 'c1', status: 'CREDIT', amount: 1 }];
  await post(callbackUrl, 'adjustBalance', { ...bet('ann', 'c1'), txns });
  await (await fetch(`${node.adminUrl}/v1/snapshots`, { method: 'POST' })).text();
  const alone = await until('the store has said how large it is', async () => {
    const scrape = await Scrape.of(node.adminUrl);
    return scrape.has('walletd_store_bytes') && scrape;
  });
  scrape = new Scrape(`${alone.text}\n${await expose(new ClusterMetrics().metrics(IN_A_CLUSTER))}`);
  const progress = { coveredMs: 1, lagEntries: 0, fileBytes: 0, fileBegunMs: 1, thenFailures: 0 };
  all = new Scrape(`${scrape.text}\n${await expose(backupMetrics(progress, 2))}`);
});
after(async () => {
  await node.close();
  folder.remove();
});

async function post(url: string, endpoint: string, body: object): Promise<void> {
  const sent = request(`${url}/${endpoint}`, { method: 'POST', rejectUnauthorized: false, agent: false });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
}

test('the metrics in an expression are detected', () => {
  assert.deepEqual(metricsOf('sum by (le) (rate(a_bucket{b="c"}[$__rate_interval])) / on (d) e > 1'), [
    'a_bucket',
    'e',
  ]);
  assert.throws(() => metricsOf('sum(a'));
  assert.deepEqual(selectorsOf('rate(a{job="j",b="c",d=~"e|f",g!="h",i="$i"}[1m]) > 0'), [
    {
      metric: 'a',
      matchers: [
        { label: 'b', isRegex: false, value: 'c' },
        { label: 'd', isRegex: true, value: 'e|f' },
      ],
    },
  ]);
});

test('every series in an alert is scraped before any event occurs', () => {
  assert.ok(alerts.length > 10);
  for (const { alert, expr } of alerts) {
    assert.ok(selectorsOf(expr).length > 0, alert);
    assertSelects(expr, alert, all);
  }
});

test('a summary uses only labels that the alert has', () => {
  for (const { alert, expr, annotations } of alerts) {
    const named = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label as string);
    const [first] = metricsOf(expr) as [string];
    const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */);
    for (const label of named.filter((one) => !NOT_OUR_LABELS.includes(one))) {
      const [series] = scrape.series(first);
      assert.ok((kept ?? Object.keys(series?.labels ?? {})).includes(label), `${alert}: ${label}`);
    }
  }
});

test('the old-snapshot alert includes shards without any snapshot', () => {
  const { expr } = alerts.find(({ alert }) => alert === 'WalletdSnapshotOld') as Alert;
  // A shard without a snapshot has no timestamp series. The alert must therefore include every shard that is behind,
  // and use the series only to exclude those with a recent snapshot.
  assert.match(
    expr,
    /^walletd_snapshot_entries_behind > 0\s+unless [^a-z]*time\(\) - walletd_snapshot_timestamp_seconds/,
  );
});

test('a shard served by a different cluster node does not page anyone', () => {
  const { expr } = alerts.find(({ alert }) => alert === 'WalletdShardNotServing') as Alert;
  const [{ matchers }] = selectorsOf(expr) as [Selector];
  const [{ value }] = matchers as [Selector['matchers'][number]];
  for (const state of ['serving', 'away', 'following', 'handing']) assert.ok(!value.split('|').includes(state), state);
});

test('no alert depends on a metric that ends with its process', () => {
  for (const { alert, expr } of alerts) assert.ok(!metricsOf(expr).includes('walletd_fenced_total'), alert);
});

test('each alert has a meaning, an action and a receiver', () => {
  for (const { alert, annotations, labels } of alerts) {
    assert.match(annotations?.summary ?? '', /\w.{20,}/, alert);
    assert.match(annotations?.action ?? '', /\w.{20,}/, alert);
    assert.ok(['page', 'ticket'].includes(labels?.severity ?? ''), alert);
  }
  assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length, 'each name once');
});

test('every dashboard metric is scraped, and every panel has a metric', () => {
  assert.ok(panels.length > 20);
  for (const { title, targets = [] } of panels) {
    assert.ok(targets.length > 0, title);
    for (const { expr } of targets) {
      assert.ok(selectorsOf(expr).length > 0, title);
      assertSelects(expr, title, scrape);
    }
  }
  for (const { query } of dashboard.templating.list) {
    const name = typeof query === 'string' ? undefined : /^label_values\((\w+)/.exec(query.query)?.[1];
    if (name !== undefined) assert.ok(scrape.has(name), name);
  }
});

test('the colour of a value shows whether it is good', () => {
  const figures = panels.filter(({ type }) => type === 'stat');
  assert.ok(figures.length > 5);
  for (const { title, fieldConfig } of figures) {
    const steps = fieldConfig?.defaults.thresholds?.steps ?? [];
    assert.ok(steps.length > 0, title);
    // Values without a threshold must not have the default colour, green. Blue means that there is no verdict.
    assert.ok(steps.length > 1 || steps[0]?.color === 'blue', title);
  }
});

test('the dashboard shows every walletd metric', () => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsOf(expr))));
  for (const { name, type } of scrape.families) {
    const names = type === 'HISTOGRAM' ? ['_bucket', '_sum', '_count'].map((ending) => name + ending) : [name];
    assert.ok(
      names.some((one) => shown.has(one)),
      name,
    );
  }
});

test('all metrics are defined in src/node/metrics', () => {
  const root = fileURLToPath(new URL('../../../src/', import.meta.url));
  const defining = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.ts') &&
      /\b(?:counter|gauge|histogram)\(|type: '(?:counter|gauge|histogram)',/.test(
        readFileSync(`${root}${file}`, 'utf8'),
      ),
  );
  assert.ok(defining.length > 3);
  assert.deepEqual(
    defining.filter((file) => !file.startsWith('node/metrics/')),
    ['telemetry/metric.ts'],
  );
});
