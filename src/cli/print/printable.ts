const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes characters that would move the cursor of a terminal, as JSON does. Names come from outside. */
export function printable(text: string): string {
  return text.search(INVISIBLE) === -1 ? text : JSON.stringify(text).replace(INVISIBLE, escaped);
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
