import { UnknownFormatError } from './format-error.js';

/** The format of the JSON files in a node's folder. A file without a `format` has format 1. */
const NODE_FILE_FORMAT = 1;

/**
 * Parses a JSON file of the node's folder. Throws an `UnknownFormatError` if a newer walletd wrote it, and a
 * `SyntaxError` if it is damaged.
 */
export function parseNodeFile<Stored>(path: string, text: string): Stored {
  const stored = JSON.parse(text) as Stored & { readonly format?: unknown };
  const format = Number(stored?.format ?? NODE_FILE_FORMAT);
  if (format > NODE_FILE_FORMAT) throw new UnknownFormatError(`the file ${path} of this node`, `format ${format}`);
  return stored;
}
