import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { FormatError } from '../format/format-error.js';
import { DATA_FILE, openEnvironment, usedBytes } from './environment.js';
import { CUT_OFF, LOCK_MS } from './probe.js';

// A separate program, because opening an environment takes the store's lock and can hang or crash (see `probe`). The
// worker ends a process that hangs after its parent has gone.
new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${2 * LOCK_MS})`, { eval: true });
const folder = process.argv[2] as string;
try {
  const used = usedBytes(openEnvironment(folder));
  process.exit(statSync(join(folder, DATA_FILE)).size < used ? CUT_OFF : 0);
} catch (error) {
  process.exit(error instanceof FormatError ? CUT_OFF : 1);
}
