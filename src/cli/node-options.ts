import { loadSettings } from '../config/load.js';
import { heapOptions } from './heap.js';

/** Prints the options that walletd.sh gives to Node. Wrong settings are for `serve` to report. */
if (!/--max-old-space-size/.test(process.env.NODE_OPTIONS ?? '')) {
  try {
    console.log(heapOptions(loadSettings(process.env)).join(' '));
  } catch {
    // Nothing is printed.
  }
}
