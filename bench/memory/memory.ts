import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Heap per player and per transaction, measured in a fresh process that may collect garbage when it wants to. */
export function runMemory(): void {
  const script = fileURLToPath(new URL('./measure.js', import.meta.url));
  spawnSync(process.execPath, ['--expose-gc', '--max-old-space-size=4096', script], { stdio: 'inherit' });
}
