const NAMES_MAX = 10_000;
const names = new Map<string, string>();

/**
 * One shared copy of a recurring string (a product, a currency). Each parsed request brings a new string, and memory
 * would keep as many as there are rounds. Past the limit strings are kept as they are.
 */
export function intern(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size < NAMES_MAX) names.set(name, name);
  return name;
}
