const NAMES_MAX = 10_000;
const names = new Map<string, string>();

/**
 * Returns one shared copy of a recurring string, such as a product or a currency. Every parsed request contains a new
 * copy, so memory would otherwise contain one copy per round. Beyond the limit, strings are returned unchanged.
 */
export function intern(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  if (names.size < NAMES_MAX) names.set(name, name);
  return name;
}
