import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandsInText, NIGHTS, VARIABLES } from '../faults/runbook-page.js';
import { readPages } from './pages.js';

const FAULTS = new URL('../../../test/faults/', import.meta.url);
const sources = readdirSync(FAULTS)
  .filter((name) => name.endsWith('.fault.ts'))
  .map((name) => readFileSync(new URL(name, FAULTS), 'utf8'));

test('every incident in the runbook has steps, numbered from 1', () => {
  assert.ok(NIGHTS.length > 10, `${NIGHTS.length} nights`);
  for (const { title, steps } of NIGHTS) {
    assert.ok(steps.length > 1, title);
    assert.deepEqual(
      steps.map(({ number }) => number),
      steps.map((_, i) => i + 1),
      title,
    );
  }
});

test('every incident in the runbook is replayed in one fault file', () => {
  for (const { title } of NIGHTS) {
    const replays = new RegExp(`\\b(?:replay|rareReplay)\\(${Number.parseInt(title, 10)}, `);
    const files = sources.filter((source) => replays.test(source));
    assert.equal(files.length, 1, title);
  }
});

test('every command in the runbook is in a replayed block', () => {
  for (const night of NIGHTS) assert.deepEqual(commandsInText(night), [], night.title);
});

test('every variable in the runbook is explained and used', () => {
  const commands = NIGHTS.flatMap(({ steps }) => steps.flatMap((step) => step.commands)).join('\n');
  const used = new Set([...commands.matchAll(/\$\{?([A-Z_]+)/g)].map(([, name = '']) => name));
  for (const name of used) assert.ok(VARIABLES.has(name) || name.startsWith('WALLETD_'), `$${name}`);
  for (const name of VARIABLES) assert.ok(used.has(name) || name === 'SETTINGS', `$${name} is in no command`);
});

/** Words that a replay quotes from a step. */
const QUOTED = /\.(?:byHand|leaveOut)\(\s*'((?:\\.|[^'\\])+)'/g;

test('the runbook contains the words that its replays quote', () => {
  const pages = readPages().filter(({ path }) => path.startsWith('docs/runbook'));
  const prose = pages.map(({ text }) => text.replace(/\s+/g, ' ')).join(' ');
  const quoted = sources.flatMap((source) => [...source.matchAll(QUOTED)]);
  assert.ok(quoted.length > 30, `${quoted.length} quotations`);
  const words = quoted.map(([, text = '']) => text.replaceAll("\\'", "'"));
  assert.deepEqual(
    words.filter((text) => !prose.includes(text)),
    [],
  );
});
