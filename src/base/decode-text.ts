const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Decodes a text file from any editor: UTF-8, with or without a byte order mark. Throws an `Error` for any other
 * encoding; the caller prefixes the message with the file name.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isUtf16) throw new Error('it is UTF-16: save it as UTF-8');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8: save it as UTF-8');
  }
}

/** The text without a leading byte order mark. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
