const NAMES_MAX = 10_000;
const names = new Map<string, string>();

/**
 * One copy of a string that recurs (a product, a currency): each parsed request brings a new one, and memory would keep
 * as many as there are rounds. Past the limit strings stay as they come.
 */
export function intern(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size < NAMES_MAX) names.set(name, name);
  return name;
}
