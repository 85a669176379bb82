import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { DATA_FILE, openEnvironment, usedBytes } from './environment.js';
import { CUT_OFF, LOCK_MS } from './probe.js';

// A program of its own, for what can hang or crash: see `probe`. To open an environment takes the lock of the store.
// It ends also when whoever started it does not end it any more.
new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${2 * LOCK_MS})`, { eval: true });
const folder = process.argv[2] as string;
const used = usedBytes(openEnvironment(folder));
process.exit(statSync(join(folder, DATA_FILE)).size < used ? CUT_OFF : 0);
