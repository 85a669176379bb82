import { isMainThread } from 'node:worker_threads';

/** Time that a test file has for its `after` hooks and its end. */
const END_MS = 30_000;

/*
 * `node --import` loads this module before each test file. A file that is still open after its last test fails with the
 * names of its open resources; without this module, the runner would wait for the file.
 */
const file = process.argv[1] ?? '';
// Threads and programs that a test starts load it, too.
if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined && /\.(test|long|fault)\.js$/.test(file)) {
  const { after } = await import('node:test');
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      console.error(`${file} does not end: open after its last test: ${open}`);
      process.exit(1);
    }, END_MS).unref();
  });
}
