import { loadSettings } from '../../config/load.js';
import { heapOptions } from '../../node/settings/heap.js';

/**
 * Prints the Node options that walletd.sh uses for these arguments. Invalid settings are not reported here but by
 * `serve`.
 */
if (!/--max-old-space-size/.test(process.env.NODE_OPTIONS ?? '')) {
  const isInsecure = process.argv.includes('--insecure');
  try {
    const settings = loadSettings(isInsecure ? { ...process.env, WALLETD_INSECURE: 'true' } : process.env);
    console.log(heapOptions(settings).join(' '));
  } catch {
    // Print nothing, so that `serve` starts and reports the error.
  }
}
