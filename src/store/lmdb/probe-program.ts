import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE, openEnvironment, usedBytes } from './environment.js';
import { CUT_OFF } from './probe.js';

// A program of its own, for what can hang or crash: see `probe`. To open an environment takes the lock of the store.
const folder = process.argv[2] as string;
const used = usedBytes(openEnvironment(folder));
if (statSync(join(folder, DATA_FILE)).size < used) process.exit(CUT_OFF);
