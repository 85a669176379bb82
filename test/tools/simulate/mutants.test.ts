import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { sign } from '../../../src/http/signature.js';
import { type Case, OPENING_BALANCE } from '../../../src/tools/simulate/case.js';
import { CASES } from '../../../src/tools/simulate/cases/all.js';
import { check, type Result } from '../../../src/tools/simulate/check.js';
import { Client } from '../../../src/tools/simulate/client.js';
import { DEFAULT_PROFILE, type Profile, rulesOf } from '../../../src/tools/simulate/profile.js';
import { load, MUTANTS, type Mutant, UNSEEN } from './mutants.js';

const SECRET = '0123456789abcdef0123456789abcdef';
const KEY = createSecretKey(SECRET, 'utf8');
const PATIENCE_MS = 20_000;

async function played(
  mutant: Mutant | undefined,
  cases: readonly Case[] = CASES,
  profile: Profile = DEFAULT_PROFILE,
): Promise<Result[]> {
  const { ReferenceWallet, serveOperator } = await load(mutant);
  const operator = await serveOperator({ Wallet: ReferenceWallet, rules: rulesOf(profile), secret: SECRET });
  const client = new Client(operator.url, PATIENCE_MS, (body, atMs) => {
    const signature = sign(KEY, Buffer.from(body), String(atMs));
    return { 'sapi-timestamp': String(atMs), 'sapi-signature': signature };
  });
  let made = 0;
  const take = async () => ({ username: `simulation-${++made}`, currency: 'THB', balance: OPENING_BALANCE });
  try {
    return await check({ client, profile, patienceMs: PATIENCE_MS, startMs: Date.now() }, { take }, cases);
  } finally {
    client.close();
    operator.close();
  }
}

const differing = (results: readonly Result[]) =>
  results.filter(({ verdict }) => verdict !== 'agrees').map(({ rule, name, why }) => `${rule}: ${name} ${why ?? ''}`);

test('every bug that is planted in the reference wallet is found by the cases of its rule', async () => {
  assert.ok(MUTANTS.length >= 50, `${MUTANTS.length} bugs`);
  const missed: string[] = [];
  for (const mutant of MUTANTS) {
    const ofRule = CASES.filter(({ rule }) => rule === mutant.rule);
    const results = await played(mutant, ofRule.length === 0 ? CASES : ofRule);
    const isFound = results.some(({ rule, verdict }) => rule === mutant.rule && verdict === 'differs');
    if (!isFound) missed.push(`${mutant.rule}: ${mutant.bug}`);
  }
  assert.deepEqual(missed, []);
});

test('nothing is found where there is no bug, and where it is none that an operator is free in', async () => {
  assert.deepEqual(differing(await played(undefined)), []);
  for (const mutant of UNSEEN) assert.deepEqual(differing(await played(mutant)), [], mutant.bug);
});

test('nothing is found in an operator that has chosen otherwise, and whose profile says so', async () => {
  const others: Partial<Profile>[] = [
    { duplicates: 'reject' },
    { 'round.ended': 'ignore' },
    { 'round.ended': 'refuse-all' },
    { 'void.amounts': 'request', 'void.allowNegativeBalance': false, 'rollback.allowNegativeBalance': false },
    { 'rollback.stale': 'off', 'tips.unknown': 'credit' },
    { codes: 'any' },
  ];
  for (const other of others) {
    const profile = { ...DEFAULT_PROFILE, ...other };
    assert.deepEqual(differing(await played(undefined, CASES, profile)), [], JSON.stringify(other));
  }
});
