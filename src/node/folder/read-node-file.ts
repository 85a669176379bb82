import { readFileSync } from 'node:fs';
import { UnknownFormatError } from '../../store/format/format-error.js';
import { parseNodeFile } from '../../store/format/node-file.js';

/**
 * The content of a JSON file of the node's folder on which no decision depends. Undefined if the file is missing or
 * damaged. Throws an `UnknownFormatError` if a newer walletd wrote it.
 */
export function readNodeFile<Stored>(path: string): Stored | undefined {
  try {
    return parseNodeFile<Stored>(path, readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof UnknownFormatError) throw error;
    return undefined;
  }
}
