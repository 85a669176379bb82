import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { endAfterTests } from '../support/children.js';

const GC_WATCH = new URL('../../bench/support/gc-watch.js', import.meta.url).href;

test('the watch writes nothing into the channel of a forked process', async () => {
  const program = "gc(); setTimeout(() => process.send('collected'), 100);";
  const args = ['--expose-gc', `--import=${GC_WATCH}`, '-e', program];
  const child = endAfterTests(spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  assert.deepEqual(await once(child, 'message'), ['collected', undefined]);
});
