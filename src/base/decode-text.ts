const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Text that people have written with whatever editor: UTF-8, with or without a byte order mark. Throws an `Error` for other encodings,
 * whose message follows the name of the file.
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

/** The text without a byte order mark in front of it. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}
