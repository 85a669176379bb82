import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../../src/node/rules.js';
import { settingsWith } from '../support/settings.js';

test('an unknown tip is refused in a new store, and credited in one from before placeTips, unless a setting says so', () => {
  assert.equal(rulesOf(settingsWith()).tipsUnknown, 'reject');
  assert.equal(rulesOf(settingsWith(), { unknownTips: 'reject' }).tipsUnknown, 'reject');
  assert.equal(rulesOf(settingsWith(), {}).tipsUnknown, 'credit');
  assert.equal(rulesOf(settingsWith({ 'tips.unknown': 'reject' }), {}).tipsUnknown, 'reject');
  assert.equal(rulesOf(settingsWith({ 'tips.unknown': 'credit' }), { unknownTips: 'reject' }).tipsUnknown, 'credit');
});
