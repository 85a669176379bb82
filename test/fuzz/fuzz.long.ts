import { test } from 'node:test';
import { Finding } from './finding.js';
import { fuzz } from './fuzz.js';

const SEED = 7;
const ATTACKS = 4;

test('some attacks of each kind of attacker, always the same: nothing breaks, and nobody loses anything', async () => {
  await fuzz(SEED, (attacks) => attacks < ATTACKS).catch((error) => {
    throw error instanceof Finding ? new Error(error.describe()) : error;
  });
});
