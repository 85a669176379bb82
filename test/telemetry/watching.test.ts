import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parser } from '@prometheus-io/lezer-promql';
import { parse as parseYaml } from 'yaml';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { Scrape } from '../support/scrape.js';
import { TestNode } from '../support/test-node.js';

/** Prometheus itself writes these. */
const NOT_OURS = ['up'];

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

/** The metrics that an expression names, in the words of Prometheus' own grammar. */
function metricsOf(expression: string): string[] {
  // Grafana puts a duration there before it asks.
  const expr = expression.replaceAll('$__rate_interval', '1m');
  const names: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, name, from, to }) => {
      assert.ok(!type.isError, `PromQL cannot read ${expr} at ${from}`);
      if (name === 'Identifier') names.push(expr.slice(from, to));
    },
  });
  return names;
}

let node: TestNode;
let scrape: Scrape;

before(async () => {
  node = await TestNode.start();
  await importPlayers(node.adminUrl, ['ann'], 1000);
  const client = new PlatformClient(node.callbackUrl);
  await client.post('placeBets', bet('ann', 'b1', 10));
  client.close();
  await (await fetch(`${node.adminUrl}/v1/snapshots`, { method: 'POST' })).text();
  scrape = await Scrape.of(node.adminUrl);
});
after(() => node.close());

test('the test sees the metrics of an expression', () => {
  assert.deepEqual(metricsOf('sum by (le) (rate(a_bucket{b="c"}[$__rate_interval])) / on (d) e > 1'), [
    'a_bucket',
    'e',
  ]);
  assert.throws(() => metricsOf('sum(a'));
});

test('every metric that an alert names is in a real scrape', () => {
  assert.ok(alerts.length > 10);
  for (const { alert, expr } of alerts) {
    const names = metricsOf(expr);
    assert.ok(names.length > 0, alert);
    for (const name of names) assert.ok(scrape.has(name) || NOT_OURS.includes(name), `${alert}: ${name}`);
  }
});

test('each alert says what it means and what to do, and whom it calls', () => {
  for (const { alert, annotations, labels } of alerts) {
    assert.match(annotations?.summary ?? '', /\w.{20,}/, alert);
    assert.match(annotations?.action ?? '', /\w.{20,}/, alert);
    assert.ok(['page', 'ticket'].includes(labels?.severity ?? ''), alert);
  }
  assert.equal(new Set(alerts.map(({ alert }) => alert)).size, alerts.length, 'each name once');
});

test('every metric on the dashboard is in a real scrape, and every panel shows one', () => {
  assert.ok(panels.length > 20);
  for (const { title, targets = [] } of panels) {
    assert.ok(targets.length > 0, title);
    for (const { expr } of targets) {
      const names = metricsOf(expr);
      assert.ok(names.length > 0, title);
      for (const name of names) assert.ok(scrape.has(name), `${title}: ${name}`);
    }
  }
  for (const { query } of dashboard.templating.list) {
    const name = typeof query === 'string' ? undefined : /^label_values\((\w+)/.exec(query.query)?.[1];
    if (name !== undefined) assert.ok(scrape.has(name), name);
  }
});

test('the dashboard shows every metric that walletd has', () => {
  const shown = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsOf(expr))));
  for (const { name, type } of scrape.families) {
    const names = type === 'HISTOGRAM' ? ['_bucket', '_sum', '_count'].map((ending) => name + ending) : [name];
    assert.ok(
      names.some((one) => shown.has(one)),
      name,
    );
  }
});
