import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../../src/node/settings/rules.js';
import { settingsWith } from '../support/settings.js';

test("an older store keeps its release's decisions unless a setting overrides them", () => {
  const version = (changes: Readonly<Record<string, unknown>>, meta: { readonly decisions?: number }) =>
    rulesOf(settingsWith(changes), meta).cancelStopsSingleState ? 2 : 1;
  assert.equal(version({}, {}), 1);
  assert.equal(version({}, { decisions: 2 }), 2);
  assert.equal(version({ 'decisions.version': 2 }, {}), 2);
  assert.equal(version({ 'decisions.version': 1 }, { decisions: 2 }), 1);
});

test('unknown tips are refused, but stores that predate placeTips credit them', () => {
  assert.equal(rulesOf(settingsWith()).tipsUnknown, 'reject');
  assert.equal(rulesOf(settingsWith(), { unknownTips: 'reject' }).tipsUnknown, 'reject');
  assert.equal(rulesOf(settingsWith(), {}).tipsUnknown, 'credit');
  assert.equal(rulesOf(settingsWith({ 'tips.unknown': 'reject' }), {}).tipsUnknown, 'reject');
  assert.equal(rulesOf(settingsWith({ 'tips.unknown': 'credit' }), { unknownTips: 'reject' }).tipsUnknown, 'credit');
});
