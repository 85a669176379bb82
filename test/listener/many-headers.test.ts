import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bet, importPlayers } from '../support/client.js';
import { postOf, rawRequest } from '../support/raw-request.js';
import { TestNode } from '../support/test-node.js';

/** Node drops the headers after the first 1,000, unless a setting says otherwise. */
const MANY: readonly string[] = Array.from({ length: 1100 }, () => 'a: b');
const FORWARDED = 'X-Forwarded-For: 192.0.2.7';

let node: TestNode;
before(async () => {
  node = await TestNode.start({ httpLibrary: 'node' });
  await importPlayers(node.adminUrl, ['ann'], 100);
});
after(() => node.close());

test('the operator API sees a header that a proxy adds after 1,100 others', async () => {
  const asked = ['GET /v1/players/ann HTTP/1.1', 'Host: localhost', ...MANY, FORWARDED].join('\r\n');
  const answer = await rawRequest(node.adminUrl, [`${asked}\r\n\r\n`]);
  assert.match(answer, /^HTTP\/1\.1 401 .*it has X-Forwarded-\*/s);
});

test("callbacks on Node's HTTP show a header that a proxy adds after 1,100 others", async () => {
  const call = postOf('/placeBets', JSON.stringify(bet('ann', 'b1')), [...MANY, FORWARDED]);
  assert.match(await rawRequest(node.callbackUrl, [call]), /^HTTP\/1\.1 403 /);
});
