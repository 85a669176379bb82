import { findTestFile } from './test-file.js';

/** Number of seconds within which a test file must run its `after` hooks and end. */
const END_SECONDS = 30;

/*
 * `node --import` loads this module before each test file. A test file that is still running this long after its last
 * test fails and lists its open resources. Without this module, the runner would wait for the file.
 */
const file = findTestFile();
if (file !== undefined) {
  const { after } = await import('node:test');
  after(() => {
    let left = END_SECONDS;
    // Count the seconds instead of reading a clock: if the machine was suspended for 30 seconds, the file had no time
    // to end.
    setInterval(() => {
      if (--left > 0) return;
      const open = process.getActiveResourcesInfo().join(', ');
      console.error(`${file} does not end: open after its last test: ${open}`);
      process.exit(1);
    }, 1000).unref();
  });
}
