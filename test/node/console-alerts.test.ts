import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ALERT_RULES } from '../../src/node/overview/alert-rules.js';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: 'page' | 'ticket' };
}

const file = fileURLToPath(new URL('../../../config/alerts.yaml', import.meta.url));
const { groups } = parse(readFileSync(file, 'utf8')) as { groups: readonly { readonly rules: readonly Alert[] }[] };
const ALERTS = new Map(groups.flatMap(({ rules }) => rules).map((rule) => [rule.alert, rule]));

/** Alerts that the console cannot show, each with the reason. */
const NOT_IN_THE_CONSOLE: Readonly<Record<string, string>> = {
  WalletdDown: 'then there is no console',
  WalletdAbsent: 'it is about Prometheus',
  WalletdNoCallbacks: 'it compares hours; the chart of the last hour shows it',
  WalletdRestarting: 'it is about several processes',
  WalletdStoreFailing: 'it needs two moments; StoreAway says the same of one',
  WalletdGivenUp: 'it needs two moments',
  WalletdSnapshotAbandoned: 'it needs two moments; SnapshotOld says what comes of it',
  WalletdSlow: 'of one second it says little; the table of stages shows it',
  WalletdAppendSlow: 'of one second it says little; the tile of the store shows it',
  WalletdEventLoopSlow: 'of one moment it says little',
  WalletdAmountMismatches: 'it needs two moments',
  WalletdUnknownTips: 'it needs two moments',
  WalletdMalformed: 'it needs two moments; the table of callbacks shows it',
  WalletdCallersRefused: 'it needs two moments; the table of callbacks shows it',
  WalletdOperatorsRefused: 'it needs two moments',
  WalletdNodeFolderFailing: 'it needs two moments',
  WalletdLinkForged: 'it needs two moments',
  WalletdCreditsUnusual: 'it needs two moments',
  WalletdBackupArchiveDiffers: 'the follower has ended with it; BackupBehind says what comes of that',
  WalletdBackupNotHandedOver: 'it needs two moments; the page Snapshots counts it',
};
/**
 * Alerts that are less urgent in the console than in the alert rules. The console counts since startup, so it shows
 * them long after the emergency has passed.
 */
const MILDER = ['WalletdAssertionFailed'];

test('each alert is in the console or excluded with a reason', () => {
  const known = ALERT_RULES.flatMap(({ alert }) => alert ?? []);
  for (const alert of known) assert.ok(ALERTS.has(alert), `${alert} is no alert`);
  for (const alert of Object.keys(NOT_IN_THE_CONSOLE)) assert.ok(ALERTS.has(alert), `${alert} is no alert`);
  const missing = [...ALERTS.keys()].filter((alert) => !known.includes(alert) && !(alert in NOT_IN_THE_CONSOLE));
  assert.deepEqual(missing, []);
  assert.deepEqual(
    known.filter((alert) => alert in NOT_IN_THE_CONSOLE),
    [],
  );
});

test('the console shows paging alerts as urgent now and ticket alerts as urgent soon', () => {
  for (const { alert, urgency } of ALERT_RULES) {
    if (alert === undefined || MILDER.includes(alert)) continue;
    assert.equal(urgency, ALERTS.get(alert)?.labels.severity === 'page' ? 'now' : 'soon', alert);
  }
});

test('the console and the alert rules have the same thresholds', () => {
  for (const { alert, limit } of ALERT_RULES) {
    if (alert === undefined || limit === undefined) continue;
    const [, last] = /[<>]=? *([\d.]+(?: \* [\d.]+)?)$/.exec(ALERTS.get(alert)?.expr.trim() ?? '') ?? [];
    assert.notEqual(last, undefined, `${alert} compares with a number`);
    const expected = last?.split(' * ').reduce((product, factor) => product * Number(factor), 1);
    assert.equal(limit, expected, alert);
  }
});
