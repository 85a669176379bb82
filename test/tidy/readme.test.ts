import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadSettings, variableOf } from '../../src/config/load.js';
import { settingsSchema } from '../../src/config/schema.js';
import { TestNode } from '../support/test-node.js';

const README = fileURLToPath(new URL('../../../README.md', import.meta.url));
const TABLE = /(<!-- settings: [^\n]*-->\n\| setting [^\n]*\n\|[-|]+\n)([\s\S]*?)(<!-- settings end -->)/;

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** One line per setting, from the schema and config/default.json. `npm test readme` with REWRITE=1 writes them. */
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
    return [`| ${name} | ${shown} | ${child.description} |`];
  });
}

test('the table of settings in the README is that of the schema', () => {
  const text = readFileSync(README, 'utf8');
  const lines = settingLines(settingsSchema as Schema, loadSettings({})).map((line) => `${line}\n`);
  assert.ok(lines.length > 30);
  if (process.env.REWRITE === '1') {
    const rewritten = text.replace(TABLE, (_, head: string, __, end: string) => head + lines.join('') + end);
    writeFileSync(README, rewritten);
  }
  assert.equal(TABLE.exec(readFileSync(README, 'utf8'))?.[2], lines.join(''));
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
