import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenForTools } from '../../src/cli/running-server.js';
import { settingsWith } from '../support/settings.js';

test('commands use the token of the operator with the most rights', () => {
  const tokens = (['monitor', 'read', 'operate'] as const).map((role) => ({
    name: role,
    role,
    token: `token-of-${role}`,
  }));
  const chosen = [0, 1, 2, 3].map((count) => tokenForTools(settingsWith({ 'admin.tokens': tokens.slice(0, count) })));
  assert.deepEqual(chosen, [null, 'token-of-monitor', 'token-of-read', 'token-of-operate']);
});
