import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import { bet, PlatformClient } from '../support/client.js';
import { withNode } from '../support/with-node.js';
import { ROOT } from '../tidy/pages.js';

interface Example {
  consume(url: string, seen: Set<string>, process: (event: FeedEvent) => void): Promise<void>;
}

test('the consumer of the page about the feed processes each event once', async () => {
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/feed.md'), 'utf8')) ?? [];
  const { consume } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Example;
  await withNode({}, async (node) => {
    const body = JSON.stringify({ name: 'crm', from: 'start' });
    const headers = { 'Content-Type': 'application/json' };
    await fetch(`${node.adminUrl}/v1/feeds`, { method: 'POST', headers, body });
    const url = `${node.adminUrl}/v1/feeds/crm`;
    const seen = new Set<string>();
    const processed: string[] = [];
    const crash = new Error('the consumer crashes');
    const platform = new PlatformClient(node.callbackUrl);
    await platform.post('placeBets', bet('ann', 'b1'));
    await platform.post('placeBets', bet('ann', 'b2'));
    platform.close();
    const crashing = consume(url, seen, ({ data }) => {
      if (data.transactionId === 'b2') throw crash;
      processed.push(String(data.transactionId));
    });
    await assert.rejects(crashing, crash);
    await consume(url, seen, ({ data }) => processed.push(String(data.transactionId)));
    assert.deepEqual(processed, ['open', 'b1', 'b2']);
  });
});
