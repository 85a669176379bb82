import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FAILURES } from '../../src/callback/failures.js';
import { loadSettings, variableOf } from '../../src/config/load.js';
import { settingsSchema } from '../../src/config/schema.js';
import { TestNode } from '../support/test-node.js';

const README = fileURLToPath(new URL('../../../README.md', import.meta.url));
/** A table between two comments that name it: what is before its lines, its lines, what is behind. */
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

/** With REWRITE=1 it is made what it should be. */
function checkTable(name: string, lines: readonly string[]): void {
  const wanted = lines.map((line) => `${line}\n`).join('');
  const table = tableOf(name);
  if (process.env.REWRITE === '1') {
    const text = readFileSync(README, 'utf8');
    const rewritten = text.replace(table, (_, head: string, __, end: string) => head + wanted + end);
    writeFileSync(README, rewritten);
  }
  assert.equal(table.exec(readFileSync(README, 'utf8'))?.[2], wanted);
}

test('the table of settings in the README is that of the schema', () => {
  const lines = settingLines(settingsSchema as Schema, loadSettings({}));
  assert.ok(lines.length > 30);
  checkTable('settings', lines);
});

test('the table of status codes in the README has every failure', () => {
  const lines = Object.entries(FAILURES).map(
    ([name, { statusCode, httpStatus, sentence }]) => `| ${statusCode} | ${httpStatus} | ${sentence} | \`${name}\` |`,
  );
  assert.ok(lines.length > 20);
  checkTable('failures', lines);
});

interface Example {
  readonly command: string;
  readonly output: string;
}

/** The `$ curl …` lines of all console blocks, each with what it is said to print. */
function examples(text: string): Example[] {
  const found: { command: string; output: string }[] = [];
  for (const [, block = ''] of text.matchAll(/```console\n([\s\S]*?)```/g)) {
    for (const line of block.trimEnd().split('\n')) {
      const last = found.at(-1);
      if (line.startsWith('$ ')) found.push({ command: line.slice(2), output: '' });
      else if (last !== undefined) last.output += `${line}\n`;
    }
  }
  return found.filter(({ command }) => command.startsWith('curl '));
}

/** As much of curl as the README uses, so that the test needs no program. */
async function curl(command: string, node: TestNode): Promise<string> {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const headers = new Headers();
  let method: string | undefined;
  let body: string | undefined;
  let url = '';
  for (let i = 1; i < words.length; i++) {
    const word = words[i] as string;
    if (word === '-X') method = words[++i];
    else if (word === '-d') body = words[++i];
    else if (word === '-H') headers.set(...((words[++i] as string).split(': ') as [string, string]));
    else url = word;
  }
  assert.match(url, /^localhost:300[01]\//, command);
  url = url.replace('localhost:3000', node.callbackUrl).replace('localhost:3001', node.adminUrl);
  const init = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers };
  const response = await fetch(url, body === undefined ? init : { ...init, body });
  return await response.text();
}

const withoutTimes = (text: string) => text.replace(/"(\w+Millis)":\d+/g, '"$1":0').trim();

test('the commands in the README print what it says, in this order', async () => {
  const all = examples(readFileSync(README, 'utf8'));
  assert.ok(all.length >= 8, 'the test sees the examples');
  const node = await TestNode.start();
  try {
    for (const { command, output } of all) {
      assert.equal(withoutTimes(await curl(command, node)), withoutTimes(output), command);
    }
  } finally {
    await node.close();
  }
});
