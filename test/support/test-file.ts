import { isMainThread } from 'node:worker_threads';

/**
 * The path of the test file that `node --test` runs in this process. Undefined in threads and programs that a test
 * starts, because they load the modules of `node --import`, too.
 */
export function findTestFile(): string | undefined {
  const file = process.argv[1] ?? '';
  const isTestFile = /\.(test|long|fault)\.js$/.test(file);
  return isMainThread && process.env.NODE_TEST_CONTEXT !== undefined && isTestFile ? file : undefined;
}
