import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { MemoryGuard } from '../../src/upkeep/memory-guard.js';
import { until } from '../support/until.js';

test('record memory counts as full near its limit, which is logged once', async () => {
  const lines: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void lines.push(fields) };
  const guard = new MemoryGuard({ heapMaxBytes: 1e12, youngBytes: 1e6, recordsMaxBytes: 1000 }, log);
  try {
    let used = 890;
    guard.watch(() => used);
    await until('records are half full', () => guard.isHalfFull);
    assert.equal(guard.isFull, false);
    for (const next of [901, 879, 901]) {
      used = next;
      await until(`${next} bytes are noticed`, () => guard.isFull === next > 900);
    }
    assert.equal(lines.length, 1);
    const [line] = lines as { readonly code: string; readonly recordBytes: number; readonly recordsMaxBytes: number }[];
    assert.deepEqual([line?.code, line?.recordBytes, line?.recordsMaxBytes], ['memory-full', 901, 1000]);
  } finally {
    guard.close();
  }
});
