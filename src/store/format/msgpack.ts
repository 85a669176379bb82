import { Packr } from 'msgpackr';
import { FormatError } from './format-error.js';

/** msgpackr decodes strings of at least 64 bytes on a different code path. */
const LONG_STRING = '\ufeff'.padEnd(64, 'x');

/**
 * Plain msgpack without records or extensions, so that any msgpack reader can read a log. Throws a `FormatError` if
 * msgpackr would misread names and ids. Without its native addon, msgpackr drops a U+FEFF at the start of a long
 * string, which would merge two players into one after a restart.
 */
export function newPackr(): Packr {
  const packr = new Packr({ useRecords: false });
  if (packr.unpack(packr.pack(LONG_STRING)) !== LONG_STRING) {
    throw new FormatError(
      'msgpackr reads some strings wrong on this machine: its native part, msgpackr-extract, is missing or switched ' +
        'off; install with `npm ci`, without --omit=optional, and unset MSGPACKR_NATIVE_ACCELERATION_DISABLED',
    );
  }
  return packr;
}
