import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { DevServer, type ServerProcess } from './dev-server.js';

/*
 * `npm run dev`: compiles after each change, and restarts the server on ./data after each build without errors. A
 * restart stops the server cleanly, as SIGTERM does, so the books stay correct. The console's page is built only once,
 * at the beginning.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WITHOUT_ERRORS = /Found 0 errors/;

function startServer(): ServerProcess {
  const child = spawn('sh', ['src/cli/walletd.sh', 'serve'], { cwd: ROOT, stdio: 'inherit' });
  return { stop: () => child.kill('SIGTERM'), ended: once(child, 'close').then(() => {}) };
}

const server = new DevServer(startServer);
const compiler = spawn('node_modules/.bin/tsc', ['--watch', '--preserveWatchOutput'], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
});
createInterface(compiler.stdout).on('line', (line) => {
  console.log(line);
  if (WITHOUT_ERRORS.test(line)) server.built();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    compiler.kill();
    void server.stop().then(() => process.exit());
  });
}
