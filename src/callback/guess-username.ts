const USERNAME = '"username"';

/**
 * Whose callback this seems to be, at a glance: what stands behind the first "username". Right for what platforms send;
 * wrong where that is not the callback's own, or where it holds a quote.
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
