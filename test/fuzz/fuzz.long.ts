import { test } from 'node:test';
import { Finding } from './finding.js';
import { fuzz } from './fuzz.js';

const SEED = 7;
const ATTACKS = 4;

test('a fixed set of attacks breaks nothing and loses no money', async () => {
  await fuzz(SEED, (attacks) => attacks < ATTACKS).catch((error) => {
    throw error instanceof Finding ? new Error(error.describe()) : error;
  });
});
