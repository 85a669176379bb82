import { Packr } from 'msgpackr';
import { FormatError } from './format-error.js';

/** msgpackr reads strings of 64 bytes and more in another way. */
const LONG_STRING = '\ufeff'.padEnd(64, 'x');

/**
 * Plain msgpack: no records, no extensions, so that any reader of msgpack can read a log. Throws a `FormatError` when
 * msgpackr would read names and ids wrong: without its native part it drops a U+FEFF that begins a long string, and two
 * players would be one after a restart.
 */
export function newPackr(): Packr {
  const packr = new Packr({ useRecords: false });
  if (packr.unpack(packr.pack(LONG_STRING)) !== LONG_STRING) {
    throw new FormatError(
      'msgpackr reads some strings wrong on this machine: its native part, msgpackr-extract, is not there or is turned ' +
        'off; install with `npm ci`, without --omit=optional, and unset MSGPACKR_NATIVE_ACCELERATION_DISABLED',
    );
  }
  return packr;
}
