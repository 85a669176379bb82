import { openSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { StoreVerifier, type StoreVerifierDeps } from '../../src/node/jobs/verify/store-verifier.js';
import { until } from './until.js';

/* A process that requests a verification when it has no file descriptors left, and prints the outcome. */

const task = () => ({}) as ReturnType<StoreVerifierDeps['task']>;
const verifier = new StoreVerifier({ task, clock: systemClock, log: silentLogger });
try {
  for (;;) openSync('/dev/null', 'r');
} catch {
  verifier.begin({ name: 'anna', address: '127.0.0.1' }, false);
}
await until('it has ended', () => verifier.last !== undefined);
process.stdout.write(JSON.stringify(verifier.last?.result));
