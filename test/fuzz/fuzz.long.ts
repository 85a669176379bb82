import { test } from 'node:test';
import { Finding } from './finding.js';
import { fuzz } from './fuzz.js';

const SEED = 7;
const ATTACKS = 4;

test('the attacks break nothing and lose no money', async () => {
  await fuzz(SEED, (attacks) => attacks < ATTACKS).catch((error) => {
    throw error instanceof Finding ? new Error(error.describe()) : error;
  });
});
