import { appendFileSync } from 'node:fs';
import { findTestFile } from './test-file.js';

/*
 * `node --import` loads this module before each test file. A test file that passes adds its path to the list in
 * `PASSED_FILES`. A reporter cannot tell which files failed: it sees the module that defines a test, which can be a
 * helper, and nothing of a file that was killed.
 */
const file = findTestFile();
const list = process.env.PASSED_FILES;
if (file !== undefined && list !== undefined) {
  process.on('exit', (code) => {
    if (code === 0) appendFileSync(list, `${file}\n`);
  });
}
