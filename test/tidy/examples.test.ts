import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestNode } from '../support/test-node.js';
import { readPage, readPages } from './pages.js';

interface Example {
  readonly command: string;
  readonly output: string;
}

/** Commands in all console blocks of a page, each with its expected output. */
function examples(text: string): Example[] {
  const found: { command: string; output: string }[] = [];
  for (const [, block = ''] of text.matchAll(/```console\n([\s\S]*?)```/g)) {
    for (const line of block.trimEnd().split('\n')) {
      const last = found.at(-1);
      if (line.startsWith('$ ')) found.push({ command: line.slice(2), output: '' });
      else if (last !== undefined) last.output += `${line}\n`;
    }
  }
  return found;
}

/** The subset of curl that the pages use, so that the test does not need curl itself. */
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
  assert.equal(words[0], 'curl', `only curl is run here, so only curl belongs in a console block: ${command}`);
  assert.match(url, /^localhost:300[01]\//, command);
  url = url.replace('localhost:3000', node.callbackUrl).replace('localhost:3001', node.adminUrl);
  const init = { method: method ?? (body === undefined ? 'GET' : 'POST'), headers };
  const response = await fetch(url, body === undefined ? init : { ...init, body });
  return await response.text();
}

/** Output without times, and without lines about progress, which appear only if a search takes long. */
const withoutTimes = (text: string) =>
  text
    .replace(/"(\w+Millis)":\d+/g, '"$1":0')
    .replace(/^\{"type":"progress".*\}\n/gm, '')
    .trim();

test('the README has examples', () => {
  assert.ok(examples(readPage('README.md').text).length >= 6);
});

for (const { path, text } of readPages()) {
  const all = examples(text);
  if (all.length === 0) continue;
  test(`the commands in ${path} print the documented output on a new node`, async () => {
    const node = await TestNode.start();
    try {
      for (const { command, output } of all) {
        assert.equal(withoutTimes(await curl(command, node)), withoutTimes(output), command);
      }
    } finally {
      await node.close();
    }
  });
}
