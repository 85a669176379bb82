import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createLogger, setLogLevel } from '../../src/telemetry/logger.js';

/** A thread with its own logger. Reports its level on request. */
const THREAD = `
  const { parentPort } = require('node:worker_threads');
  import(${JSON.stringify(new URL('../../src/telemetry/logger.js', import.meta.url).href)}).then(({ createLogger }) => {
    const logger = createLogger('error', { worker: 1 });
    parentPort.on('message', () => parentPort.postMessage(logger.level));
  });
`;

async function levelOf(worker: Worker): Promise<unknown> {
  const reported = once(worker, 'message');
  worker.postMessage('');
  return (await reported)[0];
}

test('a changed level applies to running threads and later ones', async (t) => {
  const logger = createLogger('error');
  const first = new Worker(THREAD, { eval: true });
  t.after(() => first.terminate());
  assert.equal(await levelOf(first), 'error');
  setLogLevel(logger, 'fatal');
  assert.equal(logger.level, 'fatal');
  for (let level = await levelOf(first); level !== 'fatal'; level = await levelOf(first)) assert.equal(level, 'error');
  const second = new Worker(THREAD, { eval: true });
  t.after(() => second.terminate());
  assert.equal(await levelOf(second), 'fatal');
});
