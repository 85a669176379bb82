const USERNAME = '"username"';

/**
 * Quickly guesses the callback's player: the text that follows the first "username". The guess is right for all
 * requests that platforms send. It is wrong if the first "username" is not the callback's own field, or if the name
 * contains a quotation mark.
 */
export function guessUsername(text: string): string {
  const at = text.indexOf(USERNAME);
  const from = text.indexOf('"', at + USERNAME.length) + 1;
  const to = text.indexOf('"', from);
  if (at < 0 || from === 0 || to < 0) return '';
  const name = text.slice(from, to);
  return name.includes('\\') ? unescaped(name) : name;
}

function unescaped(name: string): string {
  try {
    return JSON.parse(`"${name}"`) as string;
  } catch {
    return name;
  }
}
