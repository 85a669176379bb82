const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes characters that would move a terminal's cursor, in the same way as JSON. Names come from untrusted sources.
 */
export function printable(text: string): string {
  return text.search(INVISIBLE) === -1 ? text : JSON.stringify(text).replace(INVISIBLE, escaped);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
