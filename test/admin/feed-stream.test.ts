import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pageLines } from '../../src/admin/feed-stream.js';
import { Problem } from '../../src/admin/problem.js';

const pageAt = (next: number) => ({ json: `{"next":"${next}"}`, next: String(next) });

describe('the lines of a stream of pages', () => {
  test('a client that reads nothing causes no further reads', async () => {
    const positions: (string | undefined)[] = [];
    const lines = pageLines(
      pageAt(0),
      async (after) => {
        positions.push(after);
        return pageAt(positions.length);
      },
      () => false,
    );
    lines.read(0);
    for (let i = 0; i < 20; i++) await turn();
    assert.deepEqual(positions, []);
    const taken: unknown[] = [];
    for await (const line of lines) {
      taken.push(line);
      if (taken.length === 3) break;
    }
    assert.deepEqual(taken, ['{"next":"0"}\n', '{"next":"1"}\n', '{"next":"2"}\n']);
    assert.ok(positions.length <= 3, `${positions.length} reads`);
  });

  test('a stream that is over ends after the current page', async () => {
    const lines = pageLines(
      pageAt(0),
      async () => assert.fail('no page is read'),
      () => true,
    );
    assert.deepEqual(await lines.toArray(), ['{"next":"0"}\n']);
  });

  test('a problem is the last line', async () => {
    const away = new Problem(503, 'the store does not answer', 'feed-away');
    const lines = pageLines(
      pageAt(0),
      () => Promise.reject(away),
      () => false,
    );
    const [, last] = (await lines.toArray()) as string[];
    assert.equal(JSON.parse(last as string).code, 'feed-away');
  });
});
