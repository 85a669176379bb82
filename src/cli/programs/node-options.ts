import { loadSettings } from '../../config/load.js';
import { heapOptions } from '../../node/heap.js';

/** Prints the options that walletd.sh gives to Node for these arguments. Wrong settings are left to `serve` to report. */
if (!/--max-old-space-size/.test(process.env.NODE_OPTIONS ?? '')) {
  const isInsecure = process.argv.includes('--insecure');
  try {
    const settings = loadSettings(isInsecure ? { ...process.env, WALLETD_INSECURE: 'true' } : process.env);
    console.log(heapOptions(settings).join(' '));
  } catch {
    // Nothing is printed.
  }
}
