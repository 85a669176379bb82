import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveChoosyOperator } from './strangers/choosy-operator.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** Standard error of a check of the choosy operator, whose players have THB. */
async function warningsOf(currency: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'walletd-simulate-'));
  const stranger = await serveChoosyOperator();
  const profile = join(folder, 'profile.json');
  writeFileSync(profile, JSON.stringify({ currency }));
  try {
    const options = ['--create', ':', '--username', 'simulation-####', '--only', 'balance', '--profile', profile];
    const child = spawn(process.execPath, [MAIN, 'simulate', stranger.url, ...options]);
    child.stdout.resume();
    return await text(child.stderr);
  } finally {
    await stranger.end();
    rmSync(folder, { recursive: true });
  }
}

test('a run in which no request was accepted says what to look at', async () => {
  assert.match(await warningsOf('EUR'), /no request was accepted: .*currency and paths of the profile/);
  assert.doesNotMatch(await warningsOf('THB'), /no request was accepted/);
});
