import { loadSettings } from '../../config/load.js';
import { heapOptions } from '../../node/heap.js';

/** Prints the Node options with which walletd.sh starts for these arguments. `serve` reports wrong settings. */
if (!/--max-old-space-size/.test(process.env.NODE_OPTIONS ?? '')) {
  const isInsecure = process.argv.includes('--insecure');
  try {
    const settings = loadSettings(isInsecure ? { ...process.env, WALLETD_INSECURE: 'true' } : process.env);
    console.log(heapOptions(settings).join(' '));
  } catch {
    // Print nothing.
  }
}
