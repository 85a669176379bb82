import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CALLBACK_FAILURES } from '../../src/callback/failures.js';
import { loadSettings, variableOf } from '../../src/config/load.js';
import { settingsSchema } from '../../src/config/schema.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { ROOT, readPage } from './pages.js';

/** A generated table between two comments that contain its name: the text before, its lines, the text after. */
const tableOf = (name: string) =>
  new RegExp(`(<!-- ${name}: [^\\n]*\\n[^\\n]*\\n\\|[-|]+\\n)([\\s\\S]*?)(<!-- ${name} end -->)`);

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** One line per setting, from the schema and config/default.json. */
function settingLines(schema: Schema, defaults: Record<string, unknown>, prefix = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const path = prefix + key;
    const value = defaults[key];
    if (child.properties !== undefined) {
      return settingLines(child, value as Record<string, unknown>, `${path}.`);
    }
    const isTable = child.type === 'array' || (child.type === 'object' && child.properties === undefined);
    const name = isTable ? `\`${path}\` (in a file only)` : `\`${path}\`<br>\`${variableOf(path)}\``;
    const shown = value === null ? 'unset' : `\`${JSON.stringify(value).replaceAll('"', '')}\``;
    const choices = child.enum?.filter((one) => one !== null).map((one) => `\`${one}\``) ?? [];
    const choice = choices.length === 0 ? '' : ` One of ${choices.join(', ')}.`;
    return [`| ${name} | ${shown} | ${child.description}${choice} |`];
  });
}

/** Compares the table in the page with these lines. With REWRITE=1, writes them into the page instead. */
function checkTable(page: string, name: string, lines: readonly string[]): void {
  const wanted = lines.map((line) => `${line}\n`).join('');
  const table = tableOf(name);
  if (process.env.REWRITE === '1') {
    const { text } = readPage(page);
    writeFileSync(
      join(ROOT, page),
      text.replace(table, (_, head: string, __, end: string) => head + wanted + end),
    );
  }
  assertSameLines(table.exec(readPage(page).text)?.[2] ?? '', wanted);
}

test('the settings table matches the schema', () => {
  const lines = settingLines(settingsSchema as Schema, loadSettings({}));
  assert.ok(lines.length > 30);
  checkTable('docs/settings.md', 'settings', lines);
});

test('the status code table lists every failure', () => {
  const lines = Object.entries(CALLBACK_FAILURES).map(
    ([name, { statusCode, httpStatus, sentence }]) => `| ${statusCode} | ${httpStatus} | ${sentence} | \`${name}\` |`,
  );
  assert.ok(lines.length > 20);
  checkTable('docs/callbacks.md', 'failures', lines);
});
