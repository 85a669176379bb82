import assert from 'node:assert/strict';
import { test } from 'node:test';
import { learn } from '../../src/simulate/learn.js';
import { ENDPOINTS } from '../../src/simulate/message.js';
import { atStranger } from './strangers/at-stranger.js';
import { json, type Page, serveStranger } from './strangers/serve-stranger.js';

const FAILURE: Page = { status: 500, type: 'text/html', text: 'oops' };
const MISSING: Page = { status: 404, type: 'text/html', text: 'not found' };

test('an endpoint without a final answer counts as served and ends no learning', async () => {
  const stranger = await serveStranger(async (callback) => {
    const { endpoint, currency, username } = callback;
    if (endpoint === 'checkBalance') return json(callback, 0, { currency, username, balance: 1000 });
    if (endpoint === 'rollback') return FAILURE;
    return endpoint === 'placeTips' ? 'hang up' : MISSING;
  });
  const learnt = await atStranger(stranger, {}, (table, players) => learn(table, players));
  assert.deepEqual(learnt.silent, ['placeTips', 'rollback']);
  assert.deepEqual(
    learnt.profile.endpoints,
    ENDPOINTS.filter((endpoint) => ['checkBalance', 'placeTips', 'rollback'].includes(endpoint)),
  );
});
