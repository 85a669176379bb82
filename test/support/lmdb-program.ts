import { openEnvironment } from '../../src/store/lmdb/environment.js';

/**
 * A separate program that opens the store in a folder and holds a read transaction, or the store's lock, forever.
 * Prints `ready` once the program holds one of them.
 */
const [folder, what] = process.argv.slice(2) as [string, 'reader' | 'lock'];
const root = openEnvironment(folder);
const forEver = () => {
  process.stdout.write('ready\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
if (what === 'lock') root.transactionSync(forEver);
root.useReadTransaction();
root.getStats();
forEver();
